import { describe, expect, test } from 'vitest'
import { createJobIds } from '../../../src/domain/jobs/job-ids.ts'
import { LEASE_BEAT_MS, LEASE_MARGIN_MS, LEASE_MS } from '../../../src/domain/limits.ts'
import { Executor } from '../../../src/executor/executor.ts'
import type { HttpCaller } from '../../../src/ports/http-caller.ts'
import type { ClaimedJob, JobSource } from '../../../src/ports/jobs.ts'
import { NO_TEAM_SETTINGS } from '../../../src/ports/settings.ts'
import { capacityOf } from '../../support/engine/capacity.ts'
import { createFakeClock, FAKE_EPOCH_MS, quiescence } from '../../support/fake-clock.ts'
import { latched } from '../../support/latched.ts'
import {
  answered,
  claimAnswer,
  claimedJob,
  createFakeCrons,
  createFakeSource,
  createFakeMaintenance,
  createRecordingLogger,
  createRecordingMetrics,
  cutCall,
  REDIS_AWAY,
  type FakeSource,
} from './executor-fixture.ts'

const CONCURRENCY = 10

function setUp(shards = 2) {
  const clock = createFakeClock()
  const call = latched<HttpCaller['call']>(() => answered())
  const metrics = createRecordingMetrics()
  const logger = createRecordingLogger()
  const maintenances = Array.from({ length: shards }, (_, shard) => createFakeMaintenance(shard))
  /** The sources of each shard so far. */
  const opened = maintenances.map((): FakeSource[] => [])
  const ids: string[] = []
  const prepared = { change: (_source: FakeSource): void => undefined }
  let wake: (shard: number) => void = () => undefined
  const executor = new Executor({
    shards: maintenances.map((maintenance, shard) => ({
      shard,
      openSource: (id): JobSource => {
        const source = createFakeSource(shard)
        prepared.change(source)
        opened[shard]?.push(source)
        ids.push(id)
        return source
      },
      maintenance,
      crons: createFakeCrons(shard),
    })),
    hints: {
      onWake: (listener) => {
        wake = listener
        return () => (wake = () => undefined)
      },
    },
    caller: { call, close: () => Promise.resolve() },
    teams: { of: () => NO_TEAM_SETTINGS },
    jobIds: createJobIds(2, '0123456789ab'),
    clock,
    logger,
    metrics,
    capacity: capacityOf(CONCURRENCY),
    newExecutorId: () => `executor-${ids.length + 1}`,
    random: () => 0,
    redisNowMs: () => clock.wallMs(),
  })
  const start = async () => {
    executor.start()
    await quiescence()
  }
  /** A shard's source, the first, second … that was opened. */
  const source = (shard: number, time = 1): FakeSource => {
    const found = opened[shard]?.[time - 1]
    if (found === undefined) throw new Error(`shard ${shard} has not been opened ${time} times`)
    return found
  }
  const give = (from: FakeSource, ...jobs: ClaimedJob[]) => {
    from.claim.rule = () => {
      from.claim.rule = () => claimAnswer([])
      return claimAnswer(jobs)
    }
  }
  const hint = async (shard: number) => {
    wake(shard)
    await quiescence()
  }
  /** Holds a call in a shard. */
  const hold = async (shard: number, time = 1) => {
    call.rule = null
    give(source(shard, time), claimedJob({ shard, jobId: 16 + shard }))
    await hint(shard)
  }
  const all = () => opened.flat()
  return {
    clock,
    call,
    metrics,
    logger,
    maintenances,
    ids,
    prepared,
    executor,
    start,
    source,
    give,
    hint,
    hold,
    all,
  }
}

describe('begins', () => {
  test('with a lease in every shard, each under an id of its own', async () => {
    const { ids, metrics, executor, start, source, logger } = setUp()
    expect(executor.isReady()).toBe(false)
    await start()
    expect(executor.isReady()).toBe(true)
    expect(source(0).beat.calls).toHaveLength(1)
    expect(source(1).beat.calls).toHaveLength(1)
    expect(ids).toEqual(['executor-1', 'executor-2'])
    expect(metrics.shards()).toBe(2)
    const held = logger.lines.filter(({ message }) => message === 'The executor holds its leases')
    expect(held).toHaveLength(1)
  })

  test('with the shards that answer, and is ready with one of them', async () => {
    const { clock, call, metrics, prepared, executor, start, source, give, hint } = setUp()
    prepared.change = (source) => {
      if (source.shard === 1) source.beat.rule = () => Promise.reject(REDIS_AWAY)
    }
    await start()
    expect(executor.isReady()).toBe(true)
    expect(metrics.shards()).toBe(1)
    give(source(0), claimedJob())
    await hint(0)
    expect(call.calls).toHaveLength(1)
    source(1).beat.rule = () => ({ status: 'ok', held: 0 })
    await clock.advance(500)
    expect(metrics.shards()).toBe(2)
  })

  test('tries a shard that is away after 0.5, 1, 2, 4 and then every 5 s', async () => {
    const { clock, prepared, executor, start, source } = setUp()
    prepared.change = (source) => {
      source.beat.rule = () => Promise.reject(REDIS_AWAY)
    }
    await start()
    for (const pauseMs of [500, 1_000, 2_000, 4_000, 5_000, 5_000]) {
      const tries = source(0).beat.calls.length
      await clock.advance(pauseMs - 1)
      expect(source(0).beat.calls).toHaveLength(tries)
      await clock.advance(1)
      expect(source(0).beat.calls).toHaveLength(tries + 1)
    }
    expect(executor.isReady()).toBe(false)
  })
})

describe('a lease lost in one shard', () => {
  test('is made anew under another id, when what was held is given back under the first', async () => {
    const { clock, ids, executor, start, source } = setUp()
    await start()
    source(0).beat.rule = () => Promise.reject(REDIS_AWAY)
    source(0).leave.rule = () => Promise.reject(REDIS_AWAY)
    await clock.advance(LEASE_MS)
    expect(ids).toHaveLength(2)
    source(0).leave.rule = null
    await clock.advance(5_000)
    expect(ids).toHaveLength(2)
    source(0).leave.next.answer()
    await quiescence()
    expect(ids).toHaveLength(3)
    expect(source(0, 2).beat.calls).toHaveLength(1)
    expect(executor.isReady()).toBe(true)
  })

  test('cuts the calls of that shard and no other', async () => {
    const { clock, call, metrics, executor, start, source, hold } = setUp()
    await start()
    await hold(0)
    await hold(1)
    source(0).beat.rule = () => Promise.reject(REDIS_AWAY)
    await clock.advance(LEASE_MS)
    const [first, second] = call.calls.map(({ args }) => args[1].aborted)
    expect([first, second]).toEqual([true, false])
    call.next.answer(cutCall('aborted'))
    await quiescence()
    expect(source(0).finish.calls).toEqual([])
    expect(metrics.counts.filter((count) => count === 'leaseLost')).toHaveLength(1)
    call.next.answer(answered())
    await quiescence()
    expect(source(1).finish.calls.map(({ args }) => args[0][0]?.type)).toEqual(['ended'])
    expect(metrics.open()).toBe(0)
    expect(executor.isReady()).toBe(true)
  })

  test('is made anew though giving back failed by a defect', async () => {
    const { clock, start, source } = setUp()
    await start()
    source(0).leave.rule = () => Promise.reject(new Error('WRONGTYPE'))
    source(0).beat.rule = () => ({ status: 'lease_lost' })
    await clock.advance(LEASE_BEAT_MS)
    expect(source(0, 2).beat.calls).toHaveLength(1)
  })

  test('before its time puts the others in doubt', async () => {
    const { clock, metrics, start, source, hint } = setUp()
    await start()
    await clock.advance(1_000)
    source(0).claim.rule = () => ({ status: 'lease_lost' })
    source(1).beat.rule = null
    const beats = source(1).beat.calls.length
    await hint(0)
    expect(source(1).beat.calls).toHaveLength(beats + 1)
    // The first has begun anew, the second has not answered yet.
    expect(metrics.shards()).toBe(1)
    source(1).beat.next.answer({ status: 'ok', held: 0 })
    await quiescence()
    expect(metrics.shards()).toBe(2)
  })

  test('in its time leaves the others alone', async () => {
    const { clock, start, source } = setUp()
    await start()
    source(0).beat.rule = () => Promise.reject(REDIS_AWAY)
    await clock.advance(LEASE_MS - LEASE_MARGIN_MS)
    expect(source(0, 2).beat.calls).toHaveLength(1)
    expect(source(1).beat.calls).toHaveLength(1 + Math.floor((LEASE_MS - LEASE_MARGIN_MS) / LEASE_BEAT_MS))
  })
})

describe('a freeze of this process', () => {
  test('of 9 s costs nothing, whenever it comes', async () => {
    for (const afterMs of [1, 1_500, LEASE_BEAT_MS - 1, LEASE_BEAT_MS]) {
      const { clock, metrics, start, hold, all } = setUp(4)
      await start()
      await hold(0)
      await clock.advance(afterMs)
      await clock.sleep(9_000)
      await clock.advance(LEASE_MS)
      expect(metrics.counts).not.toContain('leaseLost')
      expect(all()).toHaveLength(4)
      expect(metrics.open()).toBe(1)
    }
  })

  test('of 14 s ends the work on all shards, which then begins anew', async () => {
    const { clock, call, metrics, executor, start, hold, all } = setUp(4)
    await start()
    await hold(0)
    await hold(3)
    await clock.sleep(14_000)
    expect(metrics.counts.filter((count) => count === 'leaseLost')).toHaveLength(4)
    expect(call.calls.map(({ args }) => args[1].aborted)).toEqual([true, true])
    call.next.answer(cutCall('aborted'))
    call.next.answer(cutCall('aborted'))
    await quiescence()
    expect(all()).toHaveLength(8)
    expect(executor.isReady()).toBe(true)
    expect(metrics.open()).toBe(0)
  })

  test('that the monotonic clock does not know of puts all in doubt', async () => {
    const { clock, executor, start, source } = setUp()
    await start()
    source(0).beat.rule = null
    source(1).beat.rule = null
    clock.suspend(20_000)
    await clock.advance(1_000)
    expect(executor.isReady()).toBe(false)
    source(0).beat.next.answer({ status: 'ok', held: 0 })
    await quiescence()
    expect(executor.isReady()).toBe(true)
  })
})

describe('runs jobs', () => {
  test('that a hint told of', async () => {
    const { call, metrics, start, source, give, hint } = setUp()
    await start()
    give(source(1), claimedJob({ shard: 1 }))
    await hint(1)
    expect(call.calls).toHaveLength(1)
    expect(metrics.counts).toContain('jobFinished:success:1')
    expect(metrics.open()).toBe(0)
  })

  test('and counts them while they are open, also when they take every slot', async () => {
    const { call, metrics, start, source, give, hint } = setUp()
    await start()
    call.rule = null
    give(source(0), ...Array.from({ length: CONCURRENCY }, (_, i) => claimedJob({ jobId: i * 32 })))
    await hint(0)
    expect(call.calls).toHaveLength(CONCURRENCY)
    expect(metrics.open()).toBe(CONCURRENCY)
  })

  test('that its own look found', async () => {
    const { clock, call, maintenances, start, source, give } = setUp()
    await start()
    give(source(0), claimedJob())
    const [maintenance] = maintenances
    if (maintenance !== undefined) maintenance.peek.rule = () => ({ runnable: true, nextDueMs: null })
    await clock.advance(500)
    expect(call.calls).toHaveLength(1)
  })

  test('that it took back from a lost executor', async () => {
    const { clock, call, maintenances, start, source, give } = setUp()
    await start()
    give(source(0), claimedJob())
    const [maintenance] = maintenances
    if (maintenance !== undefined) maintenance.reap.rule = () => ({ jobs: 1, executors: 1 })
    await clock.advance(2_000)
    expect(call.calls).toHaveLength(1)
  })

  test('and promotes at the due time a claim saw', async () => {
    const { clock, maintenances, start, source, hint } = setUp()
    await start()
    const [maintenance] = maintenances
    const nextDueMs = FAKE_EPOCH_MS + 70
    if (maintenance !== undefined) maintenance.peek.rule = () => ({ runnable: false, nextDueMs })
    source(0).claim.rule = () => claimAnswer([], { nextDueMs })
    await hint(0)
    await clock.advance(70)
    expect(maintenance?.promote.calls).toHaveLength(1)
  })

  test('not for a second after a fault of this machine', async () => {
    const { clock, call, start, source, give, hint } = setUp()
    call.rule = () => cutCall('local_fault')
    await start()
    give(source(0), claimedJob())
    await hint(0)
    const claims = source(0).claim.calls.length
    await hint(0)
    await clock.advance(999)
    expect(source(0).claim.calls).toHaveLength(claims)
    await clock.advance(1_000)
    expect(source(0).claim.calls).toHaveLength(claims + 1)
  })
})

describe('stop', () => {
  test('gives up the leases and leaves no timer', async () => {
    const { clock, executor, start, source } = setUp()
    await start()
    const stopping = executor.stop(10_000)
    expect(executor.isReady()).toBe(false)
    expect(executor.stop(10_000)).toBe(stopping)
    await clock.advance(10)
    await stopping
    expect(source(0).leave.calls).toHaveLength(1)
    expect(clock.timers).toBe(0)
  })

  test('lets calls end within the grace and claims nothing more', async () => {
    const { clock, call, executor, start, source, give, hint } = setUp()
    call.rule = null
    await start()
    give(source(0), claimedJob())
    await hint(0)
    const claims = source(0).claim.calls.length
    let isStopped = false
    const stopping = executor.stop(10_000).then(() => (isStopped = true))
    await hint(0)
    await clock.advance(3_000)
    expect(isStopped).toBe(false)
    call.next.answer(answered())
    await stopping
    expect(source(0).claim.calls).toHaveLength(claims)
    expect(source(0).finish.calls.map(({ args }) => args[0][0]?.type)).toEqual(['ended'])
  })

  test('while it rests between two tries begins no other', async () => {
    const { clock, prepared, executor, start, source } = setUp()
    prepared.change = (source) => {
      source.beat.rule = () => Promise.reject(REDIS_AWAY)
    }
    await start()
    await executor.stop(1_000)
    await clock.advance(5_000)
    expect(source(0).beat.calls).toHaveLength(1)
    expect(clock.timers).toBe(0)
  })

  test('while it begins waits for the leases, claims nothing and gives them up', async () => {
    const { clock, prepared, executor, start, source } = setUp()
    prepared.change = (source) => {
      source.beat.rule = null
    }
    await start()
    let isStopped = false
    const stopping = executor.stop(1_000).then(() => (isStopped = true))
    await quiescence()
    expect(isStopped).toBe(false)
    source(0).beat.next.answer({ status: 'ok', held: 0 })
    source(1).beat.next.answer({ status: 'ok', held: 0 })
    await clock.advance(10)
    await stopping
    expect(executor.isReady()).toBe(false)
    expect(source(0).claim.calls).toEqual([])
    expect(source(0).leave.calls).toHaveLength(1)
    await clock.advance(LEASE_BEAT_MS * 2)
    expect(source(0).beat.calls).toHaveLength(1)
    expect(clock.timers).toBe(0)
  })

  test('while a shard begins anew after a lost lease ends that too', async () => {
    const { clock, prepared, executor, start, source } = setUp()
    await start()
    prepared.change = (source) => {
      source.beat.rule = null
    }
    source(0).beat.rule = () => ({ status: 'lease_lost' })
    await clock.advance(LEASE_BEAT_MS)
    const stopping = executor.stop(1_000)
    await quiescence()
    source(0, 2).beat.next.answer({ status: 'ok', held: 0 })
    await clock.advance(10)
    await stopping
    expect(source(0, 2).leave.calls).toHaveLength(1)
    expect(clock.timers).toBe(0)
  })

  test('cuts what is open after the grace and gives it back', async () => {
    const { clock, call, metrics, executor, start, source, hold } = setUp()
    await start()
    await hold(0)
    const stopping = executor.stop(10_000)
    await clock.advance(9_999)
    expect(call.calls[0]?.args[1].aborted).toBe(false)
    await clock.advance(1)
    expect(call.calls[0]?.args[1].aborted).toBe(true)
    call.next.answer(cutCall('aborted'))
    await stopping
    expect(source(0).finish.calls.map(({ args }) => args[0][0]?.type)).toEqual(['released'])
    expect(metrics.open()).toBe(0)
  })

  test('gives Redis 3 s more to take the ends, then leaves without', async () => {
    const { clock, call, metrics, executor, start, source, hold } = setUp()
    await start()
    await hold(0)
    source(0).finish.rule = () => Promise.reject(REDIS_AWAY)
    let isStopped = false
    void executor.stop(1_000).then(() => (isStopped = true))
    await clock.advance(1_000)
    call.next.answer(cutCall('aborted'))
    await clock.advance(2_999)
    expect(isStopped).toBe(false)
    await clock.advance(101)
    expect(isStopped).toBe(true)
    expect(metrics.open()).toBe(0)
  })

  test('is at rest though a shard cannot be left', async () => {
    const { executor, start, source, logger } = setUp()
    await start()
    source(0).leave.rule = () => Promise.reject(REDIS_AWAY)
    await executor.stop(1_000)
    expect(source(1).leave.calls).toHaveLength(1)
    expect(logger.lines.filter(({ level }) => level === 'warn')).toHaveLength(1)
  })
})
