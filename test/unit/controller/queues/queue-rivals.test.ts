import { describe, expect, it } from 'vitest'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import { QUEUE_FINALIZER } from '../../../../src/resources/finalizers.ts'
import { ORIGIN_LABEL, PUSH_ORIGIN } from '../../../../src/resources/queue-owner.ts'
import { createQueueWorld } from './queue-world.ts'

const KEY = 'shop/emails'
/** Of the resource that a push has made, of the same queue. */
const PUSHED = 'shop/emails-00d8d3f1'
const PUSH_LABELS = { labels: { [ORIGIN_LABEL]: PUSH_ORIGIN } }

async function applied() {
  const world = createQueueWorld()
  world.resources.put(KEY, { timeoutSeconds: 5 })
  await world.settle(KEY)
  return world
}

describe('two resources of one name', () => {
  async function rivals() {
    const world = await applied()
    world.resources.put('shop/late', { queueName: 'emails', timeoutSeconds: 9 })
    await world.settle(KEY)
    return world
  }

  it('have the older applied; the younger reports so and has no finalizer', async () => {
    const { resources, engine, condition, events } = await rivals()
    expect(condition('shop/late')).toMatchObject({
      status: 'False',
      reason: 'NameTaken',
      message: expect.stringContaining('HttpQueue emails is older'),
    })
    expect(resources.get('shop/late')?.status).not.toHaveProperty('queueId')
    expect(resources.get('shop/late')?.metadata.finalizers).toBeUndefined()
    expect(engine.queues.get(KEY)?.settings.timeoutSeconds).toBe(5)
    expect(events).toMatchObject([{ reason: 'NameTaken', regarding: { name: 'late' } }])
  })

  it('keep the jobs when the younger is deleted, even with a finalizer written by hand', async () => {
    const { resources, engine, settle } = await rivals()
    resources.put('shop/late', {}, { finalizers: [QUEUE_FINALIZER] })
    resources.delete('shop/late')
    await settle(KEY)
    expect(resources.get('shop/late')).toBeUndefined()
    expect(engine.queues.get(KEY)?.queueId).toBe(1)
  })

  it('pass the name on with an empty queue when the older is deleted', async () => {
    const { resources, engine, settle, condition } = await rivals()
    resources.delete(KEY)
    await settle(KEY)
    expect(resources.get(KEY)).toBeUndefined()
    expect(engine.queues.get(KEY)).toMatchObject({ queueId: 2, settings: { timeoutSeconds: 9 } })
    expect(condition('shop/late')).toMatchObject({ status: 'True', reason: 'Reconciled' })
  })

  it('keep the one applied that is, when both were created in one second', async () => {
    const world = createQueueWorld()
    const at = { creationTimestamp: '2026-11-21T09:00:00Z' }
    world.resources.put('shop/z', { queueName: 'emails' }, at)
    await world.settle(KEY)
    world.resources.put('shop/a', { queueName: 'emails' }, at)
    await world.settle(KEY)
    expect(world.condition('shop/z')).toMatchObject({ status: 'True' })
    expect(world.condition('shop/a')).toMatchObject({ reason: 'NameTaken' })
  })
})

describe("a user's resource of a pushed queue that has its own", () => {
  type World = ReturnType<typeof createQueueWorld>
  async function push(world: World) {
    world.engine.push('shop', 'emails', DEFAULT_QUEUE_SETTINGS)
    world.resources.put(PUSHED, { queueName: 'emails', timeoutSeconds: 8 }, PUSH_LABELS)
    await world.settle(KEY)
    return world
  }
  const pushed = () => push(createQueueWorld())

  it('takes it over: id and jobs stay, its settings hold, and the pushed resource goes', async () => {
    const { resources, engine, settle, condition, events } = await pushed()
    resources.put(KEY, { maxParallelism: 4 })
    await settle(KEY)
    expect(engine.queues.get(KEY)).toMatchObject({
      queueId: 1,
      settings: { maxParallelism: 4, timeoutSeconds: DEFAULT_QUEUE_SETTINGS.timeoutSeconds },
    })
    expect(resources.get(PUSHED)).toBeUndefined()
    expect(condition(KEY)).toMatchObject({ status: 'True' })
    expect(resources.get(KEY)?.status?.queueId).toBe(1)
    expect(events).toEqual([])
    const own = [`hold ${KEY}`, `status ${KEY}`]
    expect(resources.writes.slice(2)).toEqual([...own, `release ${PUSHED}`, `remove ${PUSHED}`])
  })

  it('leaves it applied while Redis is away', async () => {
    const { resources, engine, reconcile, settle } = await pushed()
    engine.isAway = true
    resources.put(KEY, {})
    expect(await reconcile(KEY)).toBe('failed')
    expect(resources.get(PUSHED)?.metadata.finalizers).toEqual([QUEUE_FINALIZER])
    resources.delete(KEY)
    engine.isAway = false
    await settle(KEY)
    expect(engine.queues.get(KEY)).toMatchObject({ queueId: 1, settings: { timeoutSeconds: 8 } })
    expect(resources.get(KEY)).toBeUndefined()
  })

  it('has the name but not the queue while it is not valid', async () => {
    const { resources, engine, settle, condition } = await pushed()
    resources.put(KEY, { timeoutSeconds: 9000 })
    await settle(KEY)
    expect(condition(KEY)).toMatchObject({ reason: 'InvalidSpec' })
    expect(condition(PUSHED)).toMatchObject({
      reason: 'NameTaken',
      message: expect.stringContaining('HttpQueue emails has this queue name but is not applied yet'),
    })
    expect(engine.queues.get(KEY)).toMatchObject({ queueId: 1, settings: { timeoutSeconds: 8 } })
    resources.delete(KEY)
    await settle(KEY)
    expect(condition(PUSHED)).toMatchObject({ status: 'True' })
    expect(engine.queues.get(KEY)?.queueId).toBe(1)
  })

  it('has the jobs also of a pushed one that was deleted for it', async () => {
    const { resources, engine, settle } = await pushed()
    resources.delete(PUSHED)
    resources.put(KEY, { timeoutSeconds: 9 })
    await settle(KEY)
    expect(resources.get(PUSHED)).toBeUndefined()
    expect(engine.queues.get(KEY)).toMatchObject({ queueId: 1, settings: { timeoutSeconds: 9 } })
  })

  it('takes nothing over when it was deleted and the informer still has it', async () => {
    const { resources, engine, apiServer, settle, reconcile } = await pushed()
    resources.put(KEY, {})
    await reconcile(KEY)
    apiServer.missing = KEY
    expect(await reconcile(KEY)).toBe('failed')
    expect(resources.get(PUSHED)?.metadata).toMatchObject({ finalizers: [QUEUE_FINALIZER] })
    resources.force(KEY)
    await settle(KEY)
    expect(engine.queues.get(KEY)).toMatchObject({ queueId: 1, settings: { timeoutSeconds: 8 } })
  })

  describe.each(['deleted', 'removed by force'] as const)('%s after a crash', (how) => {
    // Finalizer, apply and status of the one; release and delete the other.
    const moments = [3, 4, 5, 6, 7].flatMap((at) =>
      (['before', 'after'] as const).map((when) => ({ at, when })),
    )

    it.each(moments)('$when write $at gives the jobs back or, taken over, has them', async (crash) => {
      const world = createQueueWorld(crash)
      await push(world)
      const { resources, engine, settle } = world
      resources.put(KEY, { timeoutSeconds: 9 })
      while ((await world.reconcile(KEY)) === 'again');
      expect(world.state.hasCrashed).toBe(true)
      const wasTakenOver = resources.get(PUSHED) === undefined
      if (how === 'deleted') resources.delete(KEY)
      else resources.force(KEY)
      await settle(KEY)
      if (wasTakenOver) {
        expect(engine.queues.has(KEY)).toBe(how !== 'deleted')
      } else {
        expect(engine.queues.get(KEY)).toMatchObject({ queueId: 1, settings: { timeoutSeconds: 8 } })
        expect(resources.get(PUSHED)?.metadata.finalizers).toEqual([QUEUE_FINALIZER])
      }
      expect(resources.get(KEY)).toBeUndefined()
    })
  })
})
