import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Workqueue, type WorkResult } from '../../../../src/kubernetes/workqueue/workqueue.ts'
import type { ObjectKey } from '../../../../src/ports/kubernetes.ts'
import type { QueuePriority } from '../../../../src/ports/metrics.ts'
import { createFakeClock, quiescence } from '../../../support/fake-clock.ts'
import { latched } from '../../../support/latched.ts'
import { quietReconcileMetrics } from '../../../support/quiet.ts'
import { NaiveQueue } from './naive-queue.ts'

const DONE: WorkResult = { status: 'done', requeueAfterMs: null }
const FAILED: WorkResult = { status: 'failed', backoffMsMin: 0, backoffMsMax: 1_000_000 }

function setUp(options: { workersMax?: number } = {}) {
  const clock = createFakeClock()
  const work = latched<(key: ObjectKey) => Promise<WorkResult>>()
  const depth = { high: 0, low: 0 }
  const waits: number[] = []
  const queue = new Workqueue({
    name: 'test',
    workersMax: options.workersMax ?? 1,
    clock,
    work,
    metrics: {
      ...quietReconcileMetrics,
      queueDepth: (_name, priority, keys) => (depth[priority] = keys),
      keyWaited: (_name, seconds) => waits.push(seconds),
    },
  })
  const started = () => work.calls.map(({ args }) => args[0])
  const endOf = (key: ObjectKey) => work.calls.find((call) => call.isOpen && call.args[0] === key)
  return { clock, work, queue, depth, waits, started, endOf }
}

describe('a key', () => {
  test('added often runs once', async () => {
    const { work, queue, started } = setUp()
    queue.add('a/1', 'high')
    queue.add('a/2', 'high')
    queue.add('a/2', 'low')
    queue.add('a/2', 'high')
    await quiescence()
    work.rule = () => DONE
    work.next.answer(DONE)
    await quiescence()
    expect(started()).toEqual(['a/1', 'a/2'])
  })

  test('added while it runs is run once more after, not beside', async () => {
    const { work, queue, started } = setUp({ workersMax: 4 })
    queue.add('a/1', 'high')
    await quiescence()
    queue.add('a/1', 'high')
    queue.add('a/1', 'low')
    await quiescence()
    expect(started()).toEqual(['a/1'])
    work.next.answer(DONE)
    await quiescence()
    work.next.answer(DONE)
    await quiescence()
    expect(started()).toEqual(['a/1', 'a/1'])
  })

  test('runs again when its run asks for it', async () => {
    const { clock, work, queue } = setUp()
    work.rule = () => ({ status: 'done', requeueAfterMs: 5_000 })
    queue.add('a/1', 'high')
    await clock.advance(4_999)
    expect(work.calls).toHaveLength(1)
    await clock.advance(1)
    expect(work.calls).toHaveLength(2)
  })

  test('that asks to run again waits behind all that others ask for', async () => {
    const { clock, work, queue, started } = setUp()
    work.rule = () => ({ status: 'done', requeueAfterMs: 1 })
    queue.add('a/1', 'high')
    await quiescence()
    work.rule = null
    queue.add('a/2', 'high')
    await clock.advance(1)
    queue.add('a/3', 'high')
    work.rule = () => DONE
    work.next.answer(DONE)
    await quiescence()
    expect(started()).toEqual(['a/1', 'a/2', 'a/3', 'a/1'])
  })

  test('that is delayed is processed at once when it is added, and its timer is canceled', async () => {
    const { clock, work, queue } = setUp()
    work.rule = () => ({ status: 'done', requeueAfterMs: 5_000 })
    queue.add('a/1', 'high')
    await clock.advance(1_000)
    work.rule = () => DONE
    queue.add('a/1', 'high')
    await clock.advance(100_000)
    expect(work.calls).toHaveLength(2)
    expect(clock.timers).toBe(0)
  })

  test('that fails is tried after 5 ms, then twice as long each time, up to the bound of its failure', async () => {
    const { clock, work, queue } = setUp()
    const times: number[] = []
    work.rule = () => {
      times.push(clock.monotonicMs())
      return { ...FAILED, backoffMsMax: 60 }
    }
    queue.add('a/1', 'high')
    await clock.advance(300)
    expect(times).toEqual([0, 5, 15, 35, 75, 135, 195, 255])
  })

  test('backs off to 1,000 s, and begins at 5 ms again after a success', async () => {
    const { clock, work, queue } = setUp()
    work.rule = () => FAILED
    queue.add('a/1', 'high')
    await clock.advance(3_000_000)
    const before = work.calls.length
    await clock.advance(1_000_000)
    expect(work.calls.length).toBe(before + 1)
    work.rule = () => DONE
    await clock.advance(1_000_000)
    work.rule = () => FAILED
    queue.add('a/1', 'high')
    await clock.advance(5)
    expect(work.calls.length).toBe(before + 4)
  })

  test('that fails waits at least as long as the failure asks', async () => {
    const { clock, work, queue } = setUp()
    work.rule = () => ({ status: 'failed', backoffMsMin: 7_000, backoffMsMax: 1_000 })
    queue.add('a/1', 'high')
    await clock.advance(6_999)
    expect(work.calls).toHaveLength(1)
    await clock.advance(1)
    expect(work.calls).toHaveLength(2)
  })
})

describe('the order', () => {
  async function orderOf(lines: ReadonlyArray<readonly [ObjectKey, QueuePriority]>): Promise<ObjectKey[]> {
    const { clock, work, queue, started } = setUp()
    queue.add('first/0', 'low')
    await clock.advance(0)
    for (const [key, priority] of lines) queue.add(key, priority)
    work.rule = () => DONE
    work.next.answer(DONE)
    while (work.calls.length <= lines.length) await quiescence()
    return started().slice(1)
  }

  test('puts high before low, but one of eight is low', async () => {
    const low = Array.from({ length: 3 }, (_, n) => [`a/low${n}`, 'low'] as const)
    const high = Array.from({ length: 20 }, (_, n) => [`a/high${n}`, 'high'] as const)
    const order = await orderOf([...low, ...high])
    expect(order.flatMap((key, at) => (key.startsWith('a/low') ? [at] : []))).toEqual([7, 15, 22])
  })

  test('rotates between namespaces', async () => {
    const crowd = Array.from({ length: 4 }, (_, n) => [`crowd/${n}`, 'high'] as const)
    const order = await orderOf([...crowd, ['alone/0', 'high']])
    expect(order).toEqual(['crowd/0', 'alone/0', 'crowd/1', 'crowd/2', 'crowd/3'])
  })

  test('lets a key move up', async () => {
    const { work, queue, depth, started } = setUp()
    for (const key of ['a/0', 'a/1', 'a/2']) queue.add(key, 'low')
    await quiescence()
    queue.add('a/2', 'high')
    expect(depth).toEqual({ high: 1, low: 1 })
    work.rule = () => DONE
    work.next.answer(DONE)
    await quiescence()
    expect(started()).toEqual(['a/0', 'a/2', 'a/1'])
  })
})

test('as many keys run at once as there are workers', async () => {
  const { work, queue, started } = setUp({ workersMax: 2 })
  for (const key of ['a/0', 'a/1', 'a/2']) queue.add(key, 'high')
  await quiescence()
  expect(started()).toEqual(['a/0', 'a/1'])
  work.next.answer(DONE)
  await quiescence()
  expect(started()).toEqual(['a/0', 'a/1', 'a/2'])
})

test('the wait is counted from the queue to the run', async () => {
  const { clock, work, queue, waits } = setUp()
  queue.add('a/0', 'high')
  queue.add('a/1', 'low')
  await clock.advance(1_500)
  queue.add('a/1', 'high')
  await clock.advance(500)
  work.next.answer(DONE)
  await quiescence()
  expect(waits).toEqual([0, 2])
})

describe('a stop', () => {
  test('waits for the runs under way and begins none', async () => {
    const { clock, work, queue, started, depth } = setUp()
    work.rule = () => FAILED
    queue.add('a/0', 'high')
    await quiescence()
    work.rule = null
    queue.add('a/1', 'high')
    queue.add('a/2', 'high')
    await quiescence()
    let isStopped = false
    const stopped = queue.stop().then(() => (isStopped = true))
    await clock.advance(10_000)
    expect(isStopped).toBe(false)
    work.next.answer({ status: 'done', requeueAfterMs: 1 })
    await stopped
    queue.add('a/3', 'high')
    await clock.advance(10_000)
    expect(started()).toEqual(['a/0', 'a/1'])
    expect(depth).toEqual({ high: 0, low: 0 })
    expect(clock.timers).toBe(0)
  })

  test('ends at once when nothing runs, also a second time', async () => {
    const { queue } = setUp()
    await expect(queue.stop()).resolves.toBeUndefined()
    await expect(queue.stop()).resolves.toBeUndefined()
  })

  test('does not begin a run that was just taken from the queue', async () => {
    const { queue, work } = setUp()
    queue.add('a/0', 'high')
    await queue.stop()
    expect(work.calls).toEqual([])
  })
})

describe('any story', () => {
  type Op =
    | { readonly op: 'add'; readonly key: ObjectKey; readonly priority: QueuePriority }
    | { readonly op: 'end'; readonly nth: number; readonly end: WorkResult }
    | { readonly op: 'advance'; readonly ms: number }

  const keys = fc.constantFrom('a/1', 'a/2', 'a/3', 'b/1', 'b/2', 'c/1')
  const ends = fc.oneof(
    fc.record({
      status: fc.constant('done' as const),
      requeueAfterMs: fc.option(fc.integer({ min: 0, max: 50 })),
    }),
    fc.record({
      status: fc.constant('failed' as const),
      backoffMsMin: fc.constantFrom(0, 0, 30),
      backoffMsMax: fc.constantFrom(20, 1_000_000),
    }),
  )
  const ops: fc.Arbitrary<Op> = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        op: fc.constant('add' as const),
        key: keys,
        priority: fc.constantFrom('high' as const, 'low' as const),
      }),
    },
    { weight: 3, arbitrary: fc.record({ op: fc.constant('end' as const), nth: fc.nat(3), end: ends }) },
    { weight: 1, arbitrary: fc.record({ op: fc.constant('advance' as const), ms: fc.nat(60) }) },
  )

  test('goes as in a queue that is too plain to be wrong', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.array(ops, { minLength: 20, maxLength: 60 }),
        async (workersMax, story) => {
          const { clock, queue, depth, started, endOf } = setUp({ workersMax })
          const naive = new NaiveQueue(workersMax)
          for (const step of story) {
            await apply(step, { clock, queue, endOf }, naive)
            expect(started()).toEqual(naive.started)
            expect(depth).toEqual(naive.depth)
            expect(clock.timers).toBe(naive.delayed.length)
          }
        },
      ),
      { numRuns: 120 },
    )
  })

  async function apply(
    step: Op,
    real: Pick<ReturnType<typeof setUp>, 'clock' | 'endOf'> & { readonly queue: Workqueue },
    naive: NaiveQueue,
  ): Promise<void> {
    if (step.op === 'add') {
      real.queue.add(step.key, step.priority)
      naive.add(step.key, step.priority)
      await quiescence()
    } else if (step.op === 'advance') {
      await real.clock.advance(step.ms)
      naive.advance(step.ms)
    } else {
      const key = naive.running[step.nth]?.key
      if (key === undefined) return
      real.endOf(key)?.answer(step.end)
      naive.end(key, step.end)
      await quiescence()
    }
  }
})
