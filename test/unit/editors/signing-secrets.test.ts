import { expect, test } from 'vitest'
import { ResourceApiError } from '../../../src/domain/errors.ts'
import { createSigningSecrets } from '../../../src/editors/signing-secrets.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { CREATED, createSettingsCluster, type Faults, WHERE } from './settings-cluster.ts'

const given = (digit: string) => ({ name: `punctual-signing-${digit.repeat(8)}`, text: `whsec_${digit}` })
const idOf = (digit: string) => `${given(digit).name}:secret`

function cluster(faults: Faults = {}) {
  const { stores, ...shown } = createSettingsCluster(faults)
  const store = createSigningSecrets({ ...stores, ...WHERE, isUsed: () => true, clock: createFakeClock() })
  return { store, ...shown }
}

const own = { name: 'own', key: 'current' }

test('the Secret is written before the settings name it, and removed after they do not', async () => {
  const { store, log, spec } = cluster()
  expect(await store.create('shop', given('a'))).toEqual({
    id: idOf('a'),
    createdAtMs: Date.parse(CREATED),
    secretRef: { name: given('a').name, key: 'secret' },
  })
  await store.create('shop', given('b'))
  expect((await store.list('shop')).map(({ id }) => id)).toEqual([idOf('b'), idOf('a')])
  await expect(store.create('shop', given('c'))).rejects.toThrow(`delete the older one, ${idOf('a')}`)
  expect(await store.remove('shop', idOf('a'))).toBe('removed')
  expect(await store.remove('shop', idOf('a'))).toBe('not_found')
  expect(spec()).toEqual({ signing: { secretRefs: [{ name: given('b').name, key: 'secret' }] } })
  expect(log).toEqual([
    'create Secret',
    'create TeamSettings',
    'create Secret',
    'patch TeamSettings',
    'patch TeamSettings',
    'remove Secret',
  ])
})

test('a Secret that the API has not made, or that a channel names, is kept', async () => {
  const { store, put, settings, secrets } = cluster()
  put('Secret', { metadata: { name: 'own', namespace: 'shop' } })
  const secretRef = { name: given('a').name, key: 'secret' }
  const channels = [{ name: 'chat', type: 'Webhook', alertTypes: ['Failure'], secretRef }]
  const spec = { signing: { secretRefs: [own] }, notifications: { channels } }
  settings(spec)
  await store.create('shop', given('a'))
  for (const id of [idOf('a'), 'own:current']) expect(await store.remove('shop', id)).toBe('removed')
  expect(secrets().map(([name]) => name)).toEqual(['own', given('a').name])
})

test('without the right it lists no times', async () => {
  const { store, settings } = cluster({ secrets: new ResourceApiError('forbidden', 'no') })
  settings({ signing: { secretRefs: [own] } })
  expect(await store.list('shop')).toEqual([{ id: 'own:current', secretRef: own, createdAtMs: null }])
})
