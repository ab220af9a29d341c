import { describe, expect, it, test } from 'vitest'
import { REMOVAL_GIVEN_UP_MS } from '../../../../src/controller/reconcile/finalizer-timeout.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import { ORIGIN_LABEL, PUSH_ORIGIN, QUEUE_FINALIZER } from '../../../../src/resources/queue-owner.ts'
import { createQueueWorld } from './queue-world.ts'

const KEY = 'shop/emails'
/** Of the resource that a push has made, of the same queue. */
const PUSHED = 'shop/emails-00d8d3f1'
const PUSH_LABELS = { labels: { [ORIGIN_LABEL]: PUSH_ORIGIN } }

async function inForce() {
  const world = createQueueWorld()
  world.queues.put(KEY, { timeoutSeconds: 5 })
  await world.settle(KEY)
  return world
}

describe('a new resource', () => {
  it('is held once, though the view does not show it before it is told', async () => {
    const { queues, turn } = createQueueWorld()
    const made = queues.put(KEY, {})
    expect(await turn(KEY)).toBe('again')
    queues.put(KEY, {}, { finalizers: [], generation: (made.metadata.generation ?? 0) - 1 })
    expect(await turn(KEY)).toBe('done')
    expect(queues.writes).toEqual(['hold shop/emails', 'status shop/emails'])
  })

  it('is held, put in force and told, in this order', async () => {
    const { queues, engine } = await inForce()
    expect(queues.writes).toEqual(['hold shop/emails', 'status shop/emails'])
    expect(engine.queues.get(KEY)).toMatchObject({ queueId: 1, settings: { timeoutSeconds: 5 } })
    expect(queues.get(KEY)?.metadata.finalizers).toEqual([QUEUE_FINALIZER])
    expect(queues.get(KEY)?.status).toMatchObject({
      observedGeneration: 1,
      queueId: 1,
      conditions: [
        { type: 'Dispatching', status: 'True', reason: 'Active' },
        { type: 'Ready', status: 'True', reason: 'Reconciled', observedGeneration: 1 },
      ],
    })
  })

  it('is in force before it is told, so that many are in force before the first is told', async () => {
    const { queues, engine, turn } = createQueueWorld()
    queues.put(KEY, {})
    expect(await turn(KEY)).toBe('again')
    expect(engine.queues.has(KEY)).toBe(true)
    expect(queues.get(KEY)?.status).toBeUndefined()
    expect(await turn(KEY)).toBe('done')
    expect(queues.get(KEY)?.status).toMatchObject({ queueId: 1 })
  })

  it('takes over a queue that a push has made, with its id', async () => {
    const world = createQueueWorld()
    world.engine.push('shop', 'emails', DEFAULT_QUEUE_SETTINGS)
    world.queues.put('shop/other-name', { queueName: 'emails' })
    await world.settle(KEY)
    expect(world.queues.get('shop/other-name')?.status?.queueId).toBe(1)
    expect(world.engine.queues.get(KEY)?.isPushed).toBe(false)
  })

  it('says when it is paused', async () => {
    const { queues, settle } = await inForce()
    queues.put(KEY, { active: false })
    await settle(KEY)
    expect(queues.get(KEY)?.status?.conditions).toMatchObject([
      { type: 'Dispatching', status: 'False', reason: 'Paused' },
      { type: 'Ready', status: 'True', observedGeneration: 2 },
    ])
  })
})

it('writes nothing for a resource that is in force', async () => {
  const { queues, settle, clock } = await inForce()
  const before = queues.writes.length
  await clock.advance(3_600_000)
  await settle(KEY)
  expect(queues.writes).toHaveLength(before)
})

describe('a spec that the API server should not have let through', () => {
  it('is stalled, told once, and what is in force stays so', async () => {
    const { queues, engine, settle, events } = await inForce()
    queues.put(KEY, { timeoutSeconds: 9000 })
    await settle(KEY)
    expect(queues.get(KEY)?.status).toMatchObject({
      observedGeneration: 2,
      queueId: 1,
      conditions: [
        {
          type: 'Ready',
          status: 'False',
          reason: 'InvalidSpec',
          message: expect.stringContaining('timeoutSeconds'),
        },
        { type: 'Stalled', status: 'True', reason: 'InvalidSpec' },
      ],
    })
    expect(engine.queues.get(KEY)?.settings.timeoutSeconds).toBe(5)
    expect(events).toMatchObject([{ type: 'Warning', reason: 'InvalidSpec' }])
  })

  it('may hold fields of a newer CRD', async () => {
    const world = createQueueWorld()
    world.queues.put(KEY, { priority: 3 })
    await world.settle(KEY)
    expect(world.ready(KEY)).toMatchObject({ status: 'True' })
  })
})

describe('two resources of one name', () => {
  async function rivals() {
    const world = await inForce()
    world.queues.put('shop/late', { queueName: 'emails', timeoutSeconds: 9 })
    await world.settle(KEY)
    return world
  }

  it('have the older in force; the younger says so and holds no finalizer', async () => {
    const { queues, engine, ready, events } = await rivals()
    expect(ready('shop/late')).toMatchObject({
      status: 'False',
      reason: 'NameTaken',
      message: expect.stringContaining('HttpQueue emails is older'),
    })
    expect(queues.get('shop/late')?.status).not.toHaveProperty('queueId')
    expect(queues.get('shop/late')?.metadata.finalizers).toBeUndefined()
    expect(engine.queues.get(KEY)?.settings.timeoutSeconds).toBe(5)
    expect(events).toMatchObject([{ reason: 'NameTaken', regarding: { name: 'late' } }])
  })

  it('keep the jobs when the younger is deleted, even with a finalizer written by hand', async () => {
    const { queues, engine, settle } = await rivals()
    queues.put('shop/late', {}, { finalizers: [QUEUE_FINALIZER] })
    queues.delete('shop/late')
    await settle(KEY)
    expect(queues.get('shop/late')).toBeUndefined()
    expect(engine.queues.get(KEY)?.queueId).toBe(1)
  })

  it('pass the name on with an empty queue when the older is deleted', async () => {
    const { queues, engine, settle, ready } = await rivals()
    queues.delete(KEY)
    await settle(KEY)
    expect(queues.get(KEY)).toBeUndefined()
    expect(engine.queues.get(KEY)).toMatchObject({ queueId: 2, settings: { timeoutSeconds: 9 } })
    expect(ready('shop/late')).toMatchObject({ status: 'True', reason: 'Reconciled' })
  })

  it('have that one in force which is, when both came in one second', async () => {
    const world = createQueueWorld()
    const at = { creationTimestamp: '2026-11-21T09:00:00Z' }
    world.queues.put('shop/z', { queueName: 'emails' }, at)
    await world.settle(KEY)
    world.queues.put('shop/a', { queueName: 'emails' }, at)
    await world.settle(KEY)
    expect(world.ready('shop/z')).toMatchObject({ status: 'True' })
    expect(world.ready('shop/a')).toMatchObject({ reason: 'NameTaken' })
  })
})

describe("a user's resource of a pushed queue that has its own", () => {
  type World = ReturnType<typeof createQueueWorld>
  async function push(world: World) {
    world.engine.push('shop', 'emails', DEFAULT_QUEUE_SETTINGS)
    world.queues.put(PUSHED, { queueName: 'emails', timeoutSeconds: 8 }, PUSH_LABELS)
    await world.settle(KEY)
    return world
  }
  const pushed = () => push(createQueueWorld())

  it('takes it over: id and jobs stay, its settings hold, and the pushed resource goes', async () => {
    const { queues, engine, settle, ready, events } = await pushed()
    queues.put(KEY, { maxParallelism: 4 })
    await settle(KEY)
    expect(engine.queues.get(KEY)).toMatchObject({
      queueId: 1,
      settings: { maxParallelism: 4, timeoutSeconds: DEFAULT_QUEUE_SETTINGS.timeoutSeconds },
    })
    expect(queues.get(PUSHED)).toBeUndefined()
    expect(ready(KEY)).toMatchObject({ status: 'True' })
    expect(queues.get(KEY)?.status?.queueId).toBe(1)
    expect(events).toEqual([])
    const own = [`hold ${KEY}`, `status ${KEY}`]
    expect(queues.writes.slice(2)).toEqual([...own, `release ${PUSHED}`, `remove ${PUSHED}`])
  })

  it('leaves it in force while Redis is away', async () => {
    const { queues, engine, turn, settle } = await pushed()
    engine.isAway = true
    queues.put(KEY, {})
    expect(await turn(KEY)).toBe('failed')
    expect(queues.get(PUSHED)?.metadata.finalizers).toEqual([QUEUE_FINALIZER])
    queues.delete(KEY)
    engine.isAway = false
    await settle(KEY)
    expect(engine.queues.get(KEY)).toMatchObject({ queueId: 1, settings: { timeoutSeconds: 8 } })
    expect(queues.get(KEY)).toBeUndefined()
  })

  it('has the name but not the queue while it is not valid', async () => {
    const { queues, engine, settle, ready } = await pushed()
    queues.put(KEY, { timeoutSeconds: 9000 })
    await settle(KEY)
    expect(ready(KEY)).toMatchObject({ reason: 'InvalidSpec' })
    expect(ready(PUSHED)).toMatchObject({
      reason: 'NameTaken',
      message: expect.stringContaining('HttpQueue emails has this queue name and is not in force yet'),
    })
    expect(engine.queues.get(KEY)).toMatchObject({ queueId: 1, settings: { timeoutSeconds: 8 } })
    queues.delete(KEY)
    await settle(KEY)
    expect(ready(PUSHED)).toMatchObject({ status: 'True' })
    expect(engine.queues.get(KEY)?.queueId).toBe(1)
  })

  it('has the jobs also of a pushed one that was deleted for it', async () => {
    const { queues, engine, settle } = await pushed()
    queues.delete(PUSHED)
    queues.put(KEY, { timeoutSeconds: 9 })
    await settle(KEY)
    expect(queues.get(PUSHED)).toBeUndefined()
    expect(engine.queues.get(KEY)).toMatchObject({ queueId: 1, settings: { timeoutSeconds: 9 } })
  })

  it('takes nothing away when it is gone and the view still shows it', async () => {
    const { queues, engine, state, settle, turn } = await pushed()
    queues.put(KEY, {})
    await turn(KEY)
    state.isGoneAtServer = KEY
    expect(await turn(KEY)).toBe('failed')
    expect(queues.get(PUSHED)?.metadata).toMatchObject({ finalizers: [QUEUE_FINALIZER] })
    queues.force(KEY)
    await settle(KEY)
    expect(engine.queues.get(KEY)).toMatchObject({ queueId: 1, settings: { timeoutSeconds: 8 } })
  })

  describe.each(['deleted', 'taken away by force'] as const)('%s after a crash', (how) => {
    // Hold, put in force and tell the one; release and remove the other.
    const moments = [3, 4, 5, 6, 7].flatMap((at) =>
      (['before', 'after'] as const).map((when) => ({ at, when })),
    )

    it.each(moments)('$when write $at gives the jobs back or, taken over, has them', async (crash) => {
      const world = createQueueWorld(crash)
      await push(world)
      const { queues, engine, settle } = world
      queues.put(KEY, { timeoutSeconds: 9 })
      while ((await world.turn(KEY)) === 'again');
      expect(world.state.hasCrashed).toBe(true)
      const wasTakenOver = queues.get(PUSHED) === undefined
      if (how === 'deleted') queues.delete(KEY)
      else queues.force(KEY)
      await settle(KEY)
      if (wasTakenOver) {
        expect(engine.queues.has(KEY)).toBe(how !== 'deleted')
      } else {
        expect(engine.queues.get(KEY)).toMatchObject({ queueId: 1, settings: { timeoutSeconds: 8 } })
        expect(queues.get(PUSHED)?.metadata.finalizers).toEqual([QUEUE_FINALIZER])
      }
      expect(queues.get(KEY)).toBeUndefined()
    })
  })
})

describe('a deleted resource', () => {
  it('goes when its queue and jobs are gone', async () => {
    const { queues, engine, settle } = await inForce()
    queues.delete(KEY)
    await settle(KEY)
    expect(engine.queues.size).toBe(0)
    expect(queues.get(KEY)).toBeUndefined()
  })

  it('is not cleared twice: what a push makes anew stays', async () => {
    const { queues, engine, turn } = await inForce()
    queues.delete(KEY)
    const shown = queues.get(KEY)
    await turn(KEY)
    engine.push('shop', 'emails', DEFAULT_QUEUE_SETTINGS)
    // The view is behind: it still shows the resource.
    if (shown !== undefined) queues.put(KEY, {}, shown.metadata)
    await turn(KEY)
    queues.force(KEY)
    await turn(KEY)
    expect(engine.queues.get(KEY)?.isPushed).toBe(true)
  })

  it('waits for Redis, says so once, and is let go after five minutes', async () => {
    const { queues, engine, turn, clock, ready, events, state, noted } = await inForce()
    engine.isAway = true
    queues.delete(KEY)
    expect(await turn(KEY)).toBe('failed')
    expect(ready(KEY)).toMatchObject({ status: 'Unknown', reason: 'BackendUnavailable' })
    const { length } = queues.writes
    await clock.advance(REMOVAL_GIVEN_UP_MS - 1)
    expect(await turn(KEY)).toBe('failed')
    expect(queues.writes).toHaveLength(length)
    await clock.advance(1)
    expect(await turn(KEY)).toBe('done')
    expect(queues.get(KEY)).toBeUndefined()
    expect(engine.queues.has(KEY)).toBe(true)
    expect(events).toMatchObject([{ type: 'Warning', reason: 'JobsLeftBehind' }])
    expect(state.leftBehind).toBe(1)
    expect(noted).toEqual([KEY])
  })

  it('waits anew for a successor of one that was let go by hand', async () => {
    const { queues, engine, clock, turn } = await inForce()
    queues.delete(KEY)
    engine.isAway = true
    await turn(KEY)
    queues.force(KEY)
    queues.put(KEY, {}, { finalizers: [QUEUE_FINALIZER] })
    await clock.advance(REMOVAL_GIVEN_UP_MS)
    queues.delete(KEY)
    expect(await turn(KEY)).toBe('failed')
    expect(queues.get(KEY)).toBeDefined()
  })
})

describe('a resource that went without its finalizer', () => {
  it('is left to the search for orphans, and its queue removed on its word, once', async () => {
    const { queues, engine, turn, noted, doomed } = await inForce()
    queues.force(KEY)
    await turn(KEY)
    expect(noted).toEqual([KEY])
    expect(engine.queues.has(KEY)).toBe(true)
    doomed.add(KEY)
    await turn(KEY)
    expect(engine.queues.has(KEY)).toBe(false)
  })

  it('that came back is not removed', async () => {
    const { queues, engine, turn, doomed } = await inForce()
    queues.force(KEY)
    doomed.add(KEY)
    queues.put(KEY, {})
    await turn(KEY)
    expect(engine.queues.get(KEY)?.queueId).toBe(1)
  })
})

describe('while Redis is away', () => {
  it('each resource says so with one write, and recovers', async () => {
    const { queues, engine, turn, settle, ready } = await inForce()
    engine.isAway = true
    const before = queues.writes.length
    for (let tries = 0; tries < 5; tries += 1) expect(await turn(KEY)).toBe('failed')
    expect(queues.writes).toHaveLength(before + 1)
    expect(ready(KEY)).toMatchObject({ status: 'Unknown', reason: 'BackendUnavailable' })
    expect(queues.get(KEY)?.status?.queueId).toBe(1)
    expect(ready(KEY)?.message).toMatch(/^Redis does not answer: what is in force there stays so/)
    engine.isAway = false
    await settle(KEY)
    expect(ready(KEY)).toMatchObject({ status: 'True' })
  })
})

it('names what keeps the controller from Redis when it is not the silence of Redis', async () => {
  const { queues, engine, turn, ready } = await inForce()
  engine.isAway = true
  engine.refusal = 'configmaps "punctual-state" is forbidden'
  await turn(KEY)
  const reason = 'The controller cannot work on Redis (configmaps "punctual-state" is forbidden): '
  expect(ready(KEY)?.message).toContain(reason)
  queues.delete(KEY)
  await turn(KEY)
  expect(ready(KEY)?.message).toBe(`${reason}the queue and its jobs are removed when it can.`)
})

describe('counts', () => {
  const counted = { team: 'shop', name: 'emails', queueId: 1, oldestReadyMs: 60_000 }
  const counts = { pending: 3, delayed: 0, processing: 1, dead: 0 }

  it('are part of the one status, and of a moment ago', async () => {
    const { queues, settle, counts: book, clock } = await inForce()
    book.set(KEY, { ...counted, counts })
    await settle(KEY)
    const oldestReadyTime = new Date(clock.wallMs() - 60_000).toISOString().replace('.000Z', 'Z')
    expect(queues.get(KEY)?.status).toMatchObject({ counts, oldestReadyTime, queueId: 1 })
  })

  it('that say the same cause no write, though clocks differ a little', async () => {
    const { queues, settle, counts: book, clock } = await inForce()
    book.set(KEY, { ...counted, counts })
    await settle(KEY)
    const before = queues.writes.length
    await clock.advance(15_000)
    book.set(KEY, { ...counted, counts, oldestReadyMs: 60_000 + 15_000 + 1_200 })
    await settle(KEY)
    expect(queues.writes).toHaveLength(before)
  })

  it('of the queue that was there before are not shown', async () => {
    const { queues, settle, counts: book, engine } = await inForce()
    book.set(KEY, { ...counted, counts })
    await settle(KEY)
    engine.queues.clear()
    await settle(KEY)
    expect(queues.get(KEY)?.status).toMatchObject({ queueId: 2 })
    expect(queues.get(KEY)?.status).not.toHaveProperty('counts')
  })
})

it('says for a while that jobs were lost', async () => {
  const { queues, settle, state } = await inForce()
  state.loss = { reason: 'EngineLost', atMs: 0, message: 'Redis was found empty.' }
  await settle(KEY)
  const lost = { type: 'JobsLost', status: 'True', reason: 'EngineLost' }
  expect(queues.get(KEY)?.status?.conditions).toContainEqual(expect.objectContaining(lost))
  state.loss = null
  await settle(KEY)
  expect(queues.get(KEY)?.status?.conditions?.map(({ type }) => type)).toEqual(['Dispatching', 'Ready'])
})

describe('a crash between any two writes comes to the same end', () => {
  type World = ReturnType<typeof createQueueWorld>
  const stories: Record<string, (world: World) => Promise<void>> = {
    'made, edited and deleted': async ({ queues, settle }) => {
      queues.put(KEY, {})
      await settle(KEY)
      queues.put(KEY, { timeoutSeconds: 7 })
      await settle(KEY)
      queues.delete(KEY)
      await settle(KEY)
    },
    "a pushed one, then a user's": async ({ queues, settle }) => {
      queues.put(PUSHED, { queueName: 'emails' }, PUSH_LABELS)
      await settle(KEY)
      queues.put(KEY, { timeoutSeconds: 7 })
      await settle(KEY)
    },
    'the older of two deleted': async ({ queues, settle }) => {
      queues.put(KEY, {})
      queues.put('shop/late', { queueName: 'emails', timeoutSeconds: 9 })
      await settle(KEY)
      queues.delete(KEY)
      await settle(KEY)
    },
  }
  const endOf = ({ queues, engine }: World) => ({
    engine: [...engine.queues].map(([key, { queueId, settings }]) => [key, queueId, settings]),
    resources: [...queues.view.all()].map(({ metadata, status }) => [
      metadata.name,
      metadata.finalizers,
      status?.conditions?.map(({ type, status: is, reason }) => [type, is, reason]),
    ]),
  })

  test.each(Object.entries(stories))('%s', async (_name, tell) => {
    const whole = createQueueWorld()
    await tell(whole)
    expect(whole.effects).toBeGreaterThan(5)
    for (let at = 0; at < whole.effects; at += 1) {
      for (const when of ['before', 'after'] as const) {
        const crashed = createQueueWorld({ at, when })
        await tell(crashed)
        expect(crashed.state.hasCrashed, `${when} write ${at}`).toBe(true)
        expect(endOf(crashed), `${when} write ${at}`).toEqual(endOf(whole))
      }
    }
  })
})
