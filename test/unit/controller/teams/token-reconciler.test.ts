import { describe, expect, it } from 'vitest'
import { BY_HASH, type ApiToken } from '../../../../src/controller/kinds.ts'
import { createTokenReconciler } from '../../../../src/controller/teams/token-reconciler.ts'
import type { ResourceEvent } from '../../../../src/ports/kubernetes.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { createMemoryEngine } from '../memory-engine.ts'
import { createMemoryKind } from '../memory-kind.ts'

const HASH = 'a'.repeat(64)

function setUp() {
  const kind = createMemoryKind<ApiToken>({
    kind: 'ApiToken',
    indexes: { [BY_HASH]: ({ spec }) => spec.sha256 },
  })
  const engine = createMemoryEngine()
  const events: ResourceEvent[] = []
  const reconciler = createTokenReconciler({
    informer: kind.informer,
    writer: kind.writer,
    engine,
    events: { record: (event) => void events.push(event) },
    clock: createFakeClock(),
    metrics: { statusWritten: () => undefined },
  })
  const reconcile = (key: string) => reconciler.reconcile(key, new AbortController().signal)
  const ready = (key: string) => kind.get(key)?.status?.conditions?.find(({ type }) => type === 'Ready')
  return { kind, engine, events, reconcile, ready }
}

it('is accepted, and nothing is written the next time', async () => {
  const { kind, engine, reconcile, ready } = setUp()
  kind.put('shop/ci', { sha256: HASH })
  await reconcile('shop/ci')
  await reconcile('shop/ci')
  expect(engine.tokens.get('shop/ci')).toBe(HASH)
  expect(ready('shop/ci')).toMatchObject({ status: 'True' })
  expect(kind.writes).toHaveLength(1)
})

describe('a hash of two teams', () => {
  async function rivals() {
    const world = setUp()
    world.kind.put('shop/ci', { sha256: HASH })
    world.kind.put('thief/ci', { sha256: HASH })
    for (const key of ['thief/ci', 'shop/ci']) await world.reconcile(key)
    return world
  }

  it('counts for the older, which is not named to the other', async () => {
    const { engine, ready, events } = await rivals()
    expect([...engine.tokens.keys()]).toEqual(['shop/ci'])
    expect(ready('thief/ci')).toMatchObject({ status: 'False', reason: 'HashTaken' })
    expect(ready('thief/ci')?.message).not.toContain('shop')
    expect(events).toMatchObject([{ reason: 'HashTaken', regarding: { namespace: 'thief' } }])
  })

  it('stays the older’s when that is deleted, also while both are reconciled at once', async () => {
    const { kind, engine, reconcile, ready } = await rivals()
    kind.force('shop/ci')
    await Promise.all(['shop/ci', 'thief/ci'].map((key) => reconcile(key)))
    expect([...engine.tokens.keys()]).toEqual([])
    await reconcile('thief/ci')
    expect(ready('thief/ci')).toMatchObject({ status: 'False', reason: 'HashTaken' })
  })

  it('stays the older’s when that was deleted while nobody led', async () => {
    const { kind, engine, reconcile, ready } = await rivals()
    kind.force('shop/ci')
    await reconcile('thief/ci')
    expect([...engine.tokens.keys()]).toEqual(['shop/ci'])
    expect(ready('thief/ci')).toMatchObject({ status: 'False', reason: 'HashTaken' })
  })

  it('is not won by an older resource that takes it over', async () => {
    const { kind, engine, reconcile, ready } = setUp()
    kind.put('thief/ci', { sha256: 'b'.repeat(64) })
    kind.put('shop/ci', { sha256: HASH })
    for (const key of ['thief/ci', 'shop/ci']) await reconcile(key)
    kind.put('thief/ci', { sha256: HASH })
    for (const key of ['thief/ci', 'shop/ci']) await reconcile(key)
    expect([...engine.tokens]).toEqual([['shop/ci', HASH]])
    expect(ready('shop/ci')).toMatchObject({ status: 'True' })
    expect(ready('thief/ci')).toMatchObject({ status: 'False', reason: 'HashTaken' })
  })

  it('is the older’s also where Redis knows of none', async () => {
    const { kind, engine, reconcile, events } = await rivals()
    engine.tokens.clear()
    engine.hashTeams.clear()
    for (const key of ['thief/ci', 'shop/ci']) await reconcile(key)
    expect([...engine.tokens.keys()]).toEqual(['shop/ci'])
    // Of one team the oldest counts, and after it the next.
    kind.put('shop/next', { sha256: HASH })
    await reconcile('shop/next')
    expect([...engine.tokens.keys()]).toEqual(['shop/ci'])
    kind.force('shop/ci')
    for (const key of ['shop/ci', 'shop/next']) await reconcile(key)
    expect([...engine.tokens.keys()]).toEqual(['shop/next'])
    expect(events.at(-1)).toMatchObject({ type: 'Normal', reason: 'Reconciled' })
  })
})

it('is revoked when it is deleted, once the API server itself confirms it', async () => {
  const { kind, engine, reconcile } = setUp()
  kind.put('shop/ci', { sha256: HASH })
  await reconcile('shop/ci')
  const { get } = kind.informer
  Object.assign(kind.informer, { get: () => undefined })
  await reconcile('shop/ci')
  expect(engine.tokens.size).toBe(1)
  Object.assign(kind.informer, { get })
  kind.force('shop/ci')
  await reconcile('shop/ci')
  expect(engine.tokens.size).toBe(0)
})

it('reports that Redis is away with one write, and is retried', async () => {
  const { kind, engine, reconcile, ready } = setUp()
  kind.put('shop/ci', { sha256: HASH })
  engine.isAway = true
  for (let tries = 0; tries < 3; tries += 1)
    await expect(reconcile('shop/ci')).rejects.toThrow('not available')
  expect(kind.writes).toHaveLength(1)
  expect(ready('shop/ci')).toMatchObject({ status: 'Unknown', reason: 'BackendUnavailable' })
  engine.refusal = 'it evicts keys'
  await expect(reconcile('shop/ci')).rejects.toThrow('not available')
  expect(ready('shop/ci')?.message).toContain('(it evicts keys)')
})
