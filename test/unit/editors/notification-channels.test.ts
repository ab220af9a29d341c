import { expect, test } from 'vitest'
import { ResourceApiError } from '../../../src/domain/errors.ts'
import { createNotificationChannels } from '../../../src/editors/notification-channels.ts'
import type { GivenChannel } from '../../../src/ports/notifications.ts'
import type { KubeObject, NewObject } from '../../../src/ports/resource-store.ts'
import { createFakeClock } from '../../support/fake-clock.ts'

type Stored = KubeObject & {
  readonly spec: Record<string, unknown>
  readonly stringData?: Readonly<Record<string, string>>
}

const OPS: GivenChannel = {
  name: 'ops',
  type: 'slack',
  alertTypes: ['failure', 'limit_warning'],
  url: 'https://hooks.slack.com/services/canary',
  secretName: 'punctual-channel-a',
}
const MAIL: GivenChannel = { ...OPS, name: 'mail', type: 'email', url: null }
const OWN = { name: 'own', key: 'slack' }

/** An API server of one namespace, with locks. */
function cluster(faults: { patches?: Error[]; secrets?: Error } = {}) {
  const objects = new Map<string, Stored>()
  const log: string[] = []
  const usable = new Set<string>()
  const clock = createFakeClock()
  let version = 0
  const put = (kind: string, object: NewObject): Stored => {
    const metadata = { uid: `uid-${object.metadata.name}`, creationTimestamp: '2026-11-21T10:00:00Z' }
    const stored = {
      ...object,
      apiVersion: 'v1',
      kind,
      metadata: { ...metadata, ...object.metadata, resourceVersion: String((version += 1)) },
      spec: (object.spec ?? {}) as Stored['spec'],
    }
    objects.set(`${kind}/${object.metadata.name}`, stored)
    return stored
  }
  const storeOf = (kind: string) => ({
    read: (_namespace: string, name: string) => Promise.resolve(objects.get(`${kind}/${name}`) ?? null),
    create: async (object: NewObject) => {
      if (kind === 'Secret' && faults.secrets !== undefined) throw faults.secrets
      log.push(`create ${kind}`)
      return put(kind, object)
    },
    patchSpec: async ({ name }: { name: string }, spec: object, resourceVersion: string | null) => {
      const found = objects.get(`${kind}/${name}`)
      const fault = faults.patches?.shift()
      if (fault !== undefined) throw fault
      if (found?.metadata.resourceVersion !== resourceVersion)
        throw new ResourceApiError('conflict', 'changed')
      log.push(`patch ${kind}`)
      return put(kind, { ...found, spec: { ...found.spec, ...spec } })
    },
    remove: async ({ name }: { name: string }) => {
      log.push(`remove ${kind}`)
      objects.delete(`${kind}/${name}`)
    },
  })
  const store = createNotificationChannels({
    settings: storeOf('TeamSettings'),
    secrets: storeOf('Secret'),
    isUsable: (_team, name) => usable.has(name),
    isWatched: (namespace) => namespace === 'shop',
    isReadOnly: () => true,
    clock,
  })
  const settings = (spec: object, metadata: object = {}) =>
    put('TeamSettings', { metadata: { name: 'team', namespace: 'shop', ...metadata }, spec })
  const secrets = () =>
    [...objects].flatMap(([key, { stringData }]) => (key.startsWith('Secret/') ? [[key, stringData]] : []))
  return {
    store,
    settings,
    put,
    log,
    secrets,
    usable,
    clock,
    spec: () => objects.get('TeamSettings/team')?.spec,
  }
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
  expect(secrets()).toEqual([['Secret/punctual-channel-a', { url: OPS.url }]])
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
  expect(secrets().map(([key]) => key)).toEqual(['Secret/own'])
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

test('what others change at the same time stays; after three tries no Secret is left', async () => {
  const conflict = () => new ResourceApiError('conflict', 'changed')
  const twice = cluster({ patches: [conflict(), conflict()] })
  twice.settings({ egress: { allow: ['10.0.0.0/8'] }, signing: { secretRefs: [OWN] } })
  await twice.store.create('shop', OPS)
  expect(twice.spec()).toMatchObject({ egress: { allow: ['10.0.0.0/8'] }, signing: { secretRefs: [OWN] } })
  const thrice = cluster({ patches: [conflict(), conflict(), conflict()] })
  thrice.settings({})
  await expect(thrice.store.create('shop', OPS)).rejects.toMatchObject({ code: 'edit_refused' })
  expect(thrice.secrets()).toEqual([])
  const away = cluster({ patches: [new ResourceApiError('unavailable', 'away')] })
  away.settings({})
  await expect(away.store.create('shop', OPS)).rejects.toMatchObject({ fault: 'unavailable' })
  expect(away.secrets()).toHaveLength(1)
})

test('settings that somebody has applied stay as they are where that is read-only', async () => {
  const { store, settings, secrets, spec } = cluster()
  const channels = [{ name: 'mail', type: 'Email', alertTypes: ['Failure'] }]
  settings({ notifications: { channels } }, { specApplier: 'kubectl' })
  const refusal = /^TeamSettings team is managed by kubectl apply,/
  await expect(store.create('shop', OPS)).rejects.toThrow(refusal)
  await expect(store.edit('shop', 'mail', ['failure'])).rejects.toThrow(refusal)
  await expect(store.remove('shop', 'mail')).rejects.toThrow(refusal)
  expect([secrets(), spec()]).toEqual([[], { notifications: { channels } }])
})

test('without the right it says which value of the chart gives it', async () => {
  const { store } = cluster({ secrets: new ResourceApiError('forbidden', 'no') })
  await expect(store.create('shop', OPS)).rejects.toThrow('api.signingSecrets.enabled')
})

test('namespaces that are not watched are left alone', async () => {
  const { store, log } = cluster()
  for (const refused of [
    store.create('mail', OPS),
    store.edit('mail', 'ops', ['failure']),
    store.remove('mail', 'ops'),
  ]) {
    await expect(refused).rejects.toThrow('PUNCTUAL_WATCH_NAMESPACES')
  }
  expect([await store.list('mail'), log]).toEqual([[], []])
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
