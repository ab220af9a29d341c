import { expect, test } from 'vitest'
import { createNotificationChannels } from '../../../src/editors/notification-channels.ts'
import type { GivenChannel } from '../../../src/ports/notifications.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { createSettingsCluster, WHERE } from './settings-cluster.ts'

const OPS: GivenChannel = {
  name: 'ops',
  type: 'slack',
  alertTypes: ['failure', 'limit_warning'],
  url: 'https://hooks.slack.com/services/canary',
  secretName: 'punctual-channel-a',
}
const MAIL: GivenChannel = { ...OPS, name: 'mail', type: 'email', url: null }
const OWN = { name: 'own', key: 'slack' }

function cluster() {
  const { stores, ...shown } = createSettingsCluster()
  const usable = new Set<string>()
  const clock = createFakeClock()
  const isUsable = (_team: string, name: string) => usable.has(name)
  const store = createNotificationChannels({ ...stores, ...WHERE, isUsable, clock })
  return { store, usable, clock, ...shown }
}

test('the URL goes to a Secret before the settings name it, and nowhere else', async () => {
  const { store, log, spec, secrets } = cluster()
  const secretRef = { name: OPS.secretName, key: 'url' }
  expect(await store.create('shop', OPS)).toEqual({
    name: 'ops',
    type: 'slack',
    alertTypes: ['failure', 'limit_warning'],
    secretRef,
  })
  expect(await store.create('shop', MAIL)).toMatchObject({ name: 'mail', secretRef: null })
  expect(log).toEqual(['create Secret', 'create TeamSettings', 'patch TeamSettings'])
  expect(secrets()).toEqual([['punctual-channel-a', { url: OPS.url }]])
  expect(spec()).toEqual({
    notifications: {
      channels: [
        { name: 'ops', type: 'Slack', alertTypes: ['Failure', 'LimitWarning'], secretRef },
        { name: 'mail', type: 'Email', alertTypes: ['Failure', 'LimitWarning'] },
      ],
    },
  })
  expect(JSON.stringify([spec(), await store.list('shop')])).not.toContain('canary')
})

test('an edit changes the alerts of one channel, and keeps the Secret and the others', async () => {
  const { store, spec } = cluster()
  await store.create('shop', OPS)
  await store.create('shop', MAIL)
  expect(await store.edit('shop', 'ops', ['recovery'])).toMatchObject({ alertTypes: ['recovery'] })
  expect(spec()).toMatchObject({
    notifications: {
      channels: [
        { name: 'ops', alertTypes: ['Recovery'], secretRef: { name: OPS.secretName } },
        { name: 'mail', alertTypes: ['Failure', 'LimitWarning'] },
      ],
    },
  })
  expect(await store.edit('shop', 'gone', ['recovery'])).toBe('not_found')
})

test('a removal takes the Secret with it that was made for it, and no other', async () => {
  const { store, log, put, settings, secrets } = cluster()
  put('Secret', { metadata: { name: 'own', namespace: 'shop' }, stringData: { slack: 'x' } })
  const ofHand = { name: 'hand', type: 'Slack', alertTypes: ['Failure'], secretRef: OWN }
  settings({ notifications: { channels: [ofHand] } })
  await store.create('shop', OPS)
  log.length = 0
  for (const name of ['ops', 'hand']) expect(await store.remove('shop', name)).toBe('removed')
  expect(await store.remove('shop', 'ops')).toBe('not_found')
  expect(log).toEqual(['patch TeamSettings', 'remove Secret', 'patch TeamSettings'])
  expect(secrets().map(([name]) => name)).toEqual(['own'])
})

test('a name that is taken and an eleventh channel are refused before a Secret is made', async () => {
  const { store, settings, log } = cluster()
  const mail = (name: string) => ({ name, type: 'Email', alertTypes: ['Failure'] })
  settings({ notifications: { channels: [mail('ops')] } })
  await expect(store.create('shop', OPS)).rejects.toThrow('The team has a channel ops already')
  settings({ notifications: { channels: Array.from({ length: 9 }, (_, at) => mail(`m${at}`)) } })
  await store.create('shop', MAIL)
  await expect(store.create('shop', OPS)).rejects.toThrow('The team has 10 channels, the most allowed')
  expect(log).toEqual(['patch TeamSettings'])
})

test('waits until the channel can be used, for 8 s at most', async () => {
  const { store, usable, clock } = cluster()
  let end: boolean | null = null
  const waited = store.whenInForce('shop', 'ops').then((is) => (end = is))
  await clock.advance(7_900)
  expect(end).toBeNull()
  usable.add('ops')
  await clock.advance(100)
  await waited
  expect(end).toBe(true)
  const late = store.whenInForce('shop', 'gone')
  await clock.advance(8_100)
  expect(await late).toBe(false)
})
