import { describe, expect, it } from 'vitest'
import { FINALIZER_TIMEOUT_MS } from '../../../../src/controller/reconcile/finalizer-timeout.ts'
import { CRON_FINALIZER, QUEUE_FINALIZER } from '../../../../src/resources/finalizers.ts'
import { createCronWorld } from '../crons/cron-world.ts'
import type { MemoryEngine } from '../memory-engine.ts'
import { createQueueWorld } from '../queues/queue-world.ts'
import type { PlannedCrash } from './reconcile-world.ts'

const KEY = 'shop/emails'
const AWAY =
  'Redis does not answer: settings applied earlier stay, and the current ones are applied when it does.'
const REFUSAL = 'configmaps "punctual-state" is forbidden'

const KINDS = [
  {
    kind: 'HttpQueue',
    finalizer: QUEUE_FINALIZER,
    createWorld: (crash: PlannedCrash | null = null) => createQueueWorld(crash),
    inRedis: ({ queues }: MemoryEngine) => queues.get(KEY),
    leftBehind: 'JobsLeftBehind',
    removal: 'the queue and its jobs are removed',
  },
  {
    kind: 'HttpCron',
    finalizer: CRON_FINALIZER,
    createWorld: (crash: PlannedCrash | null = null) => createCronWorld(crash),
    inRedis: ({ crons }: MemoryEngine) => crons.get(KEY),
    leftBehind: 'CronLeftBehind',
    removal: 'the cron is removed',
  },
]

describe.each(KINDS)('an $kind', ({ finalizer, createWorld, inRedis, leftBehind, removal }) => {
  async function applied() {
    const world = createWorld()
    world.resources.put(KEY, { timeoutSeconds: 5 })
    await world.settle(KEY)
    return world
  }

  it('gets its finalizer, is applied and gets its status, in this order', async () => {
    const { resources, engine, condition } = await applied()
    expect(resources.writes).toEqual([`hold ${KEY}`, `status ${KEY}`])
    expect(inRedis(engine)?.settings).toMatchObject({ timeoutSeconds: 5 })
    expect(resources.get(KEY)?.metadata.finalizers).toEqual([finalizer])
    expect(condition(KEY)).toMatchObject({ status: 'True', reason: 'Reconciled', observedGeneration: 1 })
  })

  it('that is applied causes no write', async () => {
    const { resources, settle, clock } = await applied()
    const before = resources.writes.length
    await clock.advance(3_600_000)
    await settle(KEY)
    expect(resources.writes).toHaveLength(before)
  })

  it('with an invalid spec is refused with one event, and recovers with another', async () => {
    const { resources, engine, settle, events, condition } = await applied()
    resources.put(KEY, { timeoutSeconds: 9000 })
    await settle(KEY)
    expect(condition(KEY)).toMatchObject({
      status: 'False',
      reason: 'InvalidSpec',
      observedGeneration: 2,
      message: expect.stringContaining('spec.timeoutSeconds: 9000 must be from 1 to 300.'),
    })
    expect(condition(KEY, 'Stalled')).toMatchObject({ status: 'True', reason: 'InvalidSpec' })
    expect(inRedis(engine)?.settings).toMatchObject({ timeoutSeconds: 5 })
    resources.put(KEY, { timeoutSeconds: 6 })
    await settle(KEY)
    expect(condition(KEY, 'Stalled')).toBeUndefined()
    expect(events).toMatchObject([
      { type: 'Warning', reason: 'InvalidSpec' },
      { type: 'Normal', reason: 'Reconciled' },
    ])
  })

  it('may have fields of a newer CRD', async () => {
    const { resources, settle, condition } = createWorld()
    resources.put(KEY, { priority: 3 })
    await settle(KEY)
    expect(condition(KEY)).toMatchObject({ status: 'True' })
  })

  it('reports that Redis is away with one write and no event, and recovers', async () => {
    const { resources, engine, events, reconcile, settle, condition } = await applied()
    engine.isAway = true
    const before = resources.writes.length
    for (let tries = 0; tries < 5; tries += 1) expect(await reconcile(KEY)).toBe('failed')
    expect(resources.writes).toHaveLength(before + 1)
    expect(condition(KEY)).toMatchObject({ status: 'Unknown', reason: 'BackendUnavailable', message: AWAY })
    expect(condition(KEY, 'Reconciling')).toMatchObject({ status: 'True', message: AWAY })
    engine.isAway = false
    await settle(KEY)
    expect(condition(KEY)).toMatchObject({ status: 'True' })
    expect(condition(KEY, 'Reconciling')).toBeUndefined()
    expect(events).toEqual([])
  })

  it('names the obstacle when it is not that Redis is away', async () => {
    const { resources, engine, reconcile, condition } = await applied()
    engine.isAway = true
    engine.refusal = REFUSAL
    await reconcile(KEY)
    const prefix = `The controller cannot write to Redis (${REFUSAL}): `
    expect(condition(KEY)?.message).toBe(
      `${prefix}settings applied earlier stay, and the current ones are applied when it can.`,
    )
    resources.delete(KEY)
    await reconcile(KEY)
    expect(condition(KEY)?.message).toBe(`${prefix}${removal} when it can.`)
  })

  describe('that is deleted', () => {
    it('goes after Redis is cleaned up', async () => {
      const { resources, engine, settle, state } = await applied()
      resources.delete(KEY)
      await settle(KEY)
      expect(inRedis(engine)).toBeUndefined()
      expect(resources.get(KEY)).toBeUndefined()
      expect(state.sweepsRequested).toBe(0)
    })

    it('waits for Redis, reports so once, and is released after the finalizer timeout', async () => {
      const { resources, engine, reconcile, clock, condition, events, state } = await applied()
      engine.isAway = true
      resources.delete(KEY)
      expect(await reconcile(KEY)).toBe('failed')
      expect(condition(KEY)).toMatchObject({ status: 'Unknown', reason: 'BackendUnavailable' })
      const { length } = resources.writes
      await clock.advance(FINALIZER_TIMEOUT_MS - 1)
      expect(await reconcile(KEY)).toBe('failed')
      expect(resources.writes).toHaveLength(length)
      await clock.advance(1)
      expect(await reconcile(KEY)).toBe('done')
      expect(resources.get(KEY)).toBeUndefined()
      expect(inRedis(engine)).toBeDefined()
      expect(events).toMatchObject([{ type: 'Warning', reason: leftBehind }])
      expect(state).toMatchObject({ leftBehind: 1, sweepsRequested: 1 })
    })

    it('starts the timeout again for a successor of one that was released by hand', async () => {
      const { resources, engine, clock, reconcile } = await applied()
      resources.delete(KEY)
      engine.isAway = true
      await reconcile(KEY)
      resources.force(KEY)
      resources.put(KEY, {}, { finalizers: [finalizer] })
      await clock.advance(FINALIZER_TIMEOUT_MS)
      resources.delete(KEY)
      expect(await reconcile(KEY)).toBe('failed')
      expect(resources.get(KEY)).toBeDefined()
    })

    it('is left alone once only the finalizer of another controller keeps it', async () => {
      const { resources, engine, settle } = await applied()
      resources.put(KEY, {}, { finalizers: ['other.test/keep', finalizer] })
      resources.delete(KEY)
      await settle(KEY)
      expect(resources.get(KEY)?.metadata.finalizers).toEqual(['other.test/keep'])
      expect(inRedis(engine)).toBeUndefined()
      const { length } = resources.writes
      await settle(KEY)
      expect(resources.writes).toHaveLength(length)
    })
  })

  describe('that went without its finalizer', () => {
    it('leaves an orphan, which is removed only once a sweep has confirmed it', async () => {
      const { resources, engine, reconcile, state, confirmedOrphans } = await applied()
      resources.force(KEY)
      await reconcile(KEY)
      expect(state.sweepsRequested).toBe(1)
      expect(inRedis(engine)).toBeDefined()
      confirmedOrphans.add(KEY)
      await reconcile(KEY)
      expect(inRedis(engine)).toBeUndefined()
      expect(confirmedOrphans.size).toBe(0)
    })

    it('and came back keeps what is in Redis', async () => {
      const { resources, engine, reconcile, confirmedOrphans } = await applied()
      resources.force(KEY)
      confirmedOrphans.add(KEY)
      resources.put(KEY, {})
      await reconcile(KEY)
      expect(inRedis(engine)).toMatchObject({ [removal.includes('queue') ? 'queueId' : 'cronId']: 1 })
    })
  })

  it('ends the same after a crash before or after any write', async () => {
    const play = async ({ resources, settle }: ReturnType<typeof createWorld>): Promise<void> => {
      resources.put(KEY, {})
      await settle(KEY)
      resources.put(KEY, { timeoutSeconds: 7 })
      await settle(KEY)
    }
    const endOf = ({ resources, engine, condition }: ReturnType<typeof createWorld>) => [
      inRedis(engine),
      resources.get(KEY)?.metadata.finalizers,
      condition(KEY)?.status,
      condition(KEY)?.observedGeneration,
    ]
    const whole = createWorld()
    await play(whole)
    expect(whole.state.effects).toBeGreaterThan(4)
    for (let at = 0; at < whole.state.effects; at += 1) {
      for (const when of ['before', 'after'] as const) {
        const crashed = createWorld({ at, when })
        await play(crashed)
        expect(crashed.state.hasCrashed, `${when} write ${at}`).toBe(true)
        expect(endOf(crashed), `${when} write ${at}`).toEqual(endOf(whole))
      }
    }
  })

  it('is removed after a crash before or after any write of a removal', async () => {
    const play = async (crash: PlannedCrash | null) => {
      const world = createWorld(crash)
      world.resources.put(KEY, {})
      await world.settle(KEY)
      world.resources.delete(KEY)
      await world.settle(KEY)
      expect(inRedis(world.engine)).toBeUndefined()
      expect(world.resources.get(KEY)).toBeUndefined()
      return world.state
    }
    const { effects } = await play(null)
    for (let at = 0; at < effects; at += 1) {
      for (const when of ['before', 'after'] as const) {
        expect((await play({ at, when })).hasCrashed, `${when} write ${at}`).toBe(true)
      }
    }
  })
})
