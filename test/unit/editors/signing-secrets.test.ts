import { expect, test } from 'vitest'
import { ResourceApiError } from '../../../src/domain/errors.ts'
import { createSigningSecrets } from '../../../src/editors/signing-secrets.ts'
import type { KubeObject, NewObject } from '../../../src/ports/resource-store.ts'
import { createFakeClock } from '../../support/fake-clock.ts'

type Stored = KubeObject & { spec: Record<string, unknown> }
const CREATED = '2026-11-21T10:00:00Z'
const given = (digit: string) => ({ name: `punctual-signing-${digit.repeat(8)}`, text: `whsec_${digit}` })
const idOf = (digit: string) => `${given(digit).name}:secret`

/** An API server of one namespace, with locks. */
function cluster(faults: { patches?: Error[]; secrets?: Error } = {}) {
  const objects = new Map<string, Stored>()
  const log: string[] = []
  let version = 0
  const put = (kind: string, { metadata, spec }: NewObject): Stored => {
    const meta = { ...metadata, uid: `uid-${metadata.name}`, resourceVersion: String((version += 1)) }
    const object = { apiVersion: 'v1', kind, metadata: { ...meta, creationTimestamp: CREATED } }
    const stored = { ...object, spec: spec as Stored['spec'] }
    objects.set(`${kind}/${metadata.name}`, stored)
    return stored
  }
  const writerOf = (kind: string) => ({
    read: async (_namespace: string, name: string) => {
      if (kind === 'Secret' && faults.secrets !== undefined) throw faults.secrets
      return objects.get(`${kind}/${name}`) ?? null
    },
    create: async (object: NewObject) => {
      if (kind === 'Secret' && faults.secrets !== undefined) throw faults.secrets
      if (objects.has(`${kind}/${object.metadata.name}`)) throw new ResourceApiError('conflict', 'exists')
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
  const store = createSigningSecrets({
    settings: writerOf('TeamSettings'),
    secrets: writerOf('Secret'),
    isUsed: () => true,
    isWatched: (namespace) => namespace === 'shop',
    clock: createFakeClock(),
    isReadOnly: () => true,
  })
  const names = (kind: string) => [...objects.keys()].filter((key) => key.startsWith(`${kind}/`))
  return { store, put, log, names, spec: () => objects.get('TeamSettings/team')?.spec }
}

const conflict = () => new ResourceApiError('conflict', 'changed')
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

test('what others change at the same time stays; after three tries it is a refusal that leaves no Secret', async () => {
  const twice = cluster({ patches: [conflict(), conflict()] })
  const spec = { egress: { allow: ['10.0.0.0/8'] }, signing: { secretRefs: [own] } }
  twice.put('TeamSettings', { metadata: { name: 'team', namespace: 'shop' }, spec })
  await twice.store.create('shop', given('a'))
  expect(twice.spec()).toMatchObject({ egress: spec.egress, signing: { secretRefs: [{}, own] } })
  const thrice = cluster({ patches: [conflict(), conflict(), conflict()] })
  thrice.put('TeamSettings', { metadata: { name: 'team', namespace: 'shop' }, spec })
  await expect(thrice.store.create('shop', given('a'))).rejects.toMatchObject({ code: 'edit_refused' })
  expect([thrice.spec(), thrice.names('Secret')]).toEqual([spec, []])
})

test('settings that somebody has applied stay as they are where that is read-only, and no Secret is left', async () => {
  const { store, put, names, log } = cluster()
  const metadata = { name: 'team', namespace: 'shop', specApplier: 'kubectl' }
  put('TeamSettings', {
    metadata,
    spec: { signing: { secretRefs: [{ name: given('a').name, key: 'secret' }] } },
  })
  const refusal = /^TeamSettings team is managed by kubectl apply,/
  await expect(store.create('shop', given('b'))).rejects.toThrow(refusal)
  await expect(store.remove('shop', idOf('a'))).rejects.toThrow(refusal)
  expect([names('Secret'), log]).toEqual([[], ['create Secret', 'remove Secret']])
})

test('without an answer the Secret stays, since the settings may name it', async () => {
  const { store, put, names } = cluster({ patches: [new ResourceApiError('unavailable', 'away')] })
  put('TeamSettings', { metadata: { name: 'team', namespace: 'shop' }, spec: {} })
  await expect(store.create('shop', given('a'))).rejects.toMatchObject({ fault: 'unavailable' })
  expect(names('Secret')).toHaveLength(1)
})

test('a Secret that the API has not made, or that a channel names, is kept', async () => {
  const { store, put, names } = cluster()
  put('Secret', { metadata: { name: 'own', namespace: 'shop' } })
  const secretRef = { name: given('a').name, key: 'secret' }
  const channels = [{ name: 'chat', type: 'Webhook', alertTypes: ['Failure'], secretRef }]
  const spec = { signing: { secretRefs: [own] }, notifications: { channels } }
  put('TeamSettings', { metadata: { name: 'team', namespace: 'shop' }, spec })
  await store.create('shop', given('a'))
  for (const id of [idOf('a'), 'own:current']) expect(await store.remove('shop', id)).toBe('removed')
  expect(names('Secret')).toEqual(['Secret/own', `Secret/${given('a').name}`])
})

test('without the right it says which value of the chart gives it, and lists no times', async () => {
  const { store, put, spec } = cluster({ secrets: new ResourceApiError('forbidden', 'no') })
  put('TeamSettings', {
    metadata: { name: 'team', namespace: 'shop' },
    spec: { signing: { secretRefs: [own] } },
  })
  await expect(store.create('shop', given('a'))).rejects.toThrow('api.signingSecrets.enabled')
  expect(await store.list('shop')).toEqual([{ id: 'own:current', secretRef: own, createdAtMs: null }])
  expect(spec()).toEqual({ signing: { secretRefs: [own] } })
})

test('namespaces that are not watched are left alone', async () => {
  const { store, log } = cluster()
  await expect(store.create('mail', given('a'))).rejects.toThrow('PUNCTUAL_WATCH_NAMESPACES')
  await expect(store.remove('mail', idOf('a'))).rejects.toThrow('PUNCTUAL_WATCH_NAMESPACES')
  expect([await store.list('mail'), log]).toEqual([[], []])
})
