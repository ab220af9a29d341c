import { describe, expect, test } from 'vitest'
import { createJobIds } from '../../../src/domain/job-ids.ts'
import { LEASE_BEAT_MS } from '../../../src/domain/limits.ts'
import { createExecutor } from '../../../src/executor/executor.ts'
import type { HttpCaller } from '../../../src/ports/http-caller.ts'
import type { ClaimedJob, JobSource } from '../../../src/ports/job-source.ts'
import { NO_TEAM_SETTINGS } from '../../../src/ports/team-settings.ts'
import { createFakeClock, FAKE_EPOCH_MS, quiescence } from '../../support/fake-clock.ts'
import { latched } from '../../support/latched.ts'
import {
  answered,
  claimAnswer,
  claimedJob,
  createFakeSource,
  createFakeUpkeep,
  createRecordingLogger,
  createRecordingMetrics,
  cutCall,
  REDIS_AWAY,
  type FakeSource,
} from './executor-fixture.ts'

const CONCURRENCY = 10

function setUp() {
  const clock = createFakeClock()
  const call = latched<HttpCaller['call']>(() => answered())
  const metrics = createRecordingMetrics()
  const upkeeps = [createFakeUpkeep(0), createFakeUpkeep(1)]
  /** The sources of each tenure so far. */
  const tenures: Array<{ id: string; sources: FakeSource[] }> = []
  const prepared = { change: (_source: FakeSource): void => undefined }
  let wake: (shard: number) => void = () => undefined
  const executor = createExecutor({
    openSources: (id): JobSource[] => {
      const sources = [createFakeSource(0), createFakeSource(1)]
      sources.forEach((source) => prepared.change(source))
      tenures.push({ id, sources })
      return sources
    },
    upkeeps,
    crons: [],
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
    logger: createRecordingLogger(),
    metrics,
    concurrency: CONCURRENCY,
    newExecutorId: () => `executor-${tenures.length + 1}`,
    random: () => 0,
    redisNowMs: () => clock.wallMs(),
  })
  const start = async () => {
    executor.start()
    await quiescence()
  }
  const source = (tenure: number, shard: number): FakeSource => {
    const found = tenures[tenure]?.sources[shard]
    if (found === undefined) throw new Error(`tenure ${tenure} has not begun`)
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
  return { clock, call, metrics, upkeeps, tenures, prepared, executor, start, source, give, hint }
}

describe('begins', () => {
  test('with leases in every shard, and is ready then', async () => {
    const { executor, start, source } = setUp()
    expect(executor.isReady()).toBe(false)
    await start()
    expect(executor.isReady()).toBe(true)
    expect(source(0, 0).beat.calls).toHaveLength(1)
    expect(source(0, 1).beat.calls).toHaveLength(1)
  })

  test('again every 500 ms while Redis is away, each time under a new id', async () => {
    const { clock, prepared, tenures, executor, start, source } = setUp()
    prepared.change = (source) => {
      source.beat.rule = () => Promise.reject(REDIS_AWAY)
    }
    await start()
    await clock.advance(499)
    expect(tenures).toHaveLength(1)
    await clock.advance(1)
    expect(tenures.map(({ id }) => id)).toEqual(['executor-1', 'executor-2'])
    expect(executor.isReady()).toBe(false)
    expect(source(0, 0).leave.calls).toHaveLength(1)
    prepared.change = () => undefined
    await clock.advance(500)
    expect(executor.isReady()).toBe(true)
  })

  test('anew when a lease was lost, after what was held is given back', async () => {
    const { clock, tenures, executor, start, source } = setUp()
    await start()
    source(0, 0).beat.rule = () => ({ status: 'lease_lost' })
    source(0, 1).leave.rule = null
    await clock.advance(LEASE_BEAT_MS)
    expect(executor.isReady()).toBe(false)
    expect(tenures).toHaveLength(1)
    source(0, 1).leave.next.answer()
    await quiescence()
    expect(tenures).toHaveLength(2)
    expect(executor.isReady()).toBe(true)
  })
})

describe('runs jobs', () => {
  test('that a hint told of', async () => {
    const { call, metrics, start, source, give, hint } = setUp()
    await start()
    give(source(0, 1), claimedJob({ shard: 1 }))
    await hint(1)
    expect(call.calls).toHaveLength(1)
    expect(metrics.counts).toContain('jobFinished:success:1')
    expect(metrics.open()).toBe(0)
  })

  test('and counts them while they are open, also when they take every slot', async () => {
    const { call, metrics, start, source, give, hint } = setUp()
    await start()
    call.rule = null
    give(source(0, 0), ...Array.from({ length: CONCURRENCY }, (_, i) => claimedJob({ jobId: i * 32 })))
    await hint(0)
    expect(call.calls).toHaveLength(CONCURRENCY)
    expect(metrics.open()).toBe(CONCURRENCY)
  })

  test('that its own look found', async () => {
    const { clock, call, upkeeps, start, source, give } = setUp()
    await start()
    give(source(0, 0), claimedJob())
    const [upkeep] = upkeeps
    if (upkeep !== undefined) upkeep.glance.rule = () => ({ runnable: true, nextDueMs: null })
    await clock.advance(500)
    expect(call.calls).toHaveLength(1)
  })

  test('that it took back from a lost executor', async () => {
    const { clock, call, upkeeps, start, source, give } = setUp()
    await start()
    give(source(0, 0), claimedJob())
    const [upkeep] = upkeeps
    if (upkeep !== undefined) upkeep.reap.rule = () => ({ jobs: 1, executors: 1 })
    await clock.advance(2_000)
    expect(call.calls).toHaveLength(1)
  })

  test('and promotes at the due time a claim saw', async () => {
    const { clock, upkeeps, start, source, hint } = setUp()
    await start()
    const [upkeep] = upkeeps
    const nextDueMs = FAKE_EPOCH_MS + 70
    if (upkeep !== undefined) upkeep.glance.rule = () => ({ runnable: false, nextDueMs })
    source(0, 0).claim.rule = () => claimAnswer([], { nextDueMs })
    await hint(0)
    await clock.advance(70)
    expect(upkeep?.promote.calls).toHaveLength(1)
  })

  test('not for a second after a fault of this machine', async () => {
    const { clock, call, start, source, give, hint } = setUp()
    call.rule = () => cutCall('local_fault')
    await start()
    give(source(0, 0), claimedJob())
    await hint(0)
    const claims = source(0, 0).claim.calls.length
    await hint(0)
    await clock.advance(999)
    expect(source(0, 0).claim.calls).toHaveLength(claims)
    await clock.advance(1_000)
    expect(source(0, 0).claim.calls).toHaveLength(claims + 1)
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
    expect(source(0, 0).leave.calls).toHaveLength(1)
    expect(clock.timers).toBe(0)
  })

  test('lets calls end within the grace and claims nothing more', async () => {
    const { clock, call, executor, start, source, give, hint } = setUp()
    call.rule = null
    await start()
    give(source(0, 0), claimedJob())
    await hint(0)
    const claims = source(0, 0).claim.calls.length
    let isStopped = false
    const stopping = executor.stop(10_000).then(() => (isStopped = true))
    await hint(0)
    await clock.advance(3_000)
    expect(isStopped).toBe(false)
    call.next.answer(answered())
    await stopping
    expect(source(0, 0).claim.calls).toHaveLength(claims)
    expect(source(0, 0).finish.calls.map(({ args }) => args[0][0]?.type)).toEqual(['ended'])
  })

  test('while it rests between two tries begins no other', async () => {
    const { clock, prepared, tenures, executor, start } = setUp()
    prepared.change = (source) => {
      source.beat.rule = () => Promise.reject(REDIS_AWAY)
    }
    await start()
    await executor.stop(1_000)
    await clock.advance(5_000)
    expect(tenures).toHaveLength(1)
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
    const leaves = source(0, 0).leave.calls.length
    source(0, 0).beat.next.answer({ status: 'ok', held: 0 })
    source(0, 1).beat.next.answer({ status: 'ok', held: 0 })
    await clock.advance(10)
    await stopping
    expect(executor.isReady()).toBe(false)
    expect(source(0, 0).claim.calls).toEqual([])
    expect(source(0, 0).leave.calls.length).toBeGreaterThan(leaves)
    await clock.advance(LEASE_BEAT_MS * 2)
    expect(source(0, 0).beat.calls).toHaveLength(1)
    expect(clock.timers).toBe(0)
  })

  test('while it begins anew after a lost lease ends that tenure too', async () => {
    const { clock, prepared, executor, start, source } = setUp()
    await start()
    prepared.change = (source) => {
      source.beat.rule = null
    }
    source(0, 0).beat.rule = () => ({ status: 'lease_lost' })
    await clock.advance(LEASE_BEAT_MS)
    const stopping = executor.stop(1_000)
    await quiescence()
    const leaves = source(1, 0).leave.calls.length
    source(1, 0).beat.next.answer({ status: 'ok', held: 0 })
    source(1, 1).beat.next.answer({ status: 'ok', held: 0 })
    await clock.advance(10)
    await stopping
    expect(source(1, 0).leave.calls.length).toBeGreaterThan(leaves)
    expect(clock.timers).toBe(0)
  })
})
