import { describe, expect, test } from 'vitest'
import { LEASE_BEAT_MS } from '../../../src/domain/limits.ts'
import { createJobPool } from '../../../src/executor/job-pool.ts'
import { createTenure } from '../../../src/executor/tenure.ts'
import type { ClaimedJob } from '../../../src/ports/job-source.ts'
import { createFakeClock, quiescence } from '../../support/fake-clock.ts'
import {
  claimAnswer,
  claimedJob,
  createFakeRunner,
  createFakeSource,
  createRecordingLogger,
  createRecordingMetrics,
  REDIS_AWAY,
  type FakeSource,
} from './executor-fixture.ts'

function setUp(shards = 2) {
  const clock = createFakeClock()
  const sources = Array.from({ length: shards }, (_, shard) => createFakeSource(shard))
  const runner = createFakeRunner()
  const metrics = createRecordingMetrics()
  const logger = createRecordingLogger()
  const pool = createJobPool(100)
  const tenure = createTenure({ sources, pool, runner, clock, logger, metrics, isPaused: () => false })
  const give = async (source: FakeSource, ...jobs: ClaimedJob[]) => {
    source.claim.rule = () => {
      source.claim.rule = () => claimAnswer([])
      return claimAnswer(jobs)
    }
    tenure.wake(source.shard)
    await quiescence()
  }
  const [first, second] = sources
  if (first === undefined || second === undefined) throw new Error('two shards at least')
  return { clock, sources, first, second, runner, metrics, logger, pool, tenure, give }
}

function jobOf(shard: number): ClaimedJob {
  return claimedJob({ shard, jobId: 16 + shard })
}

/** What the ends written to a shard were. */
function written(source: FakeSource): string[] {
  return source.finish.calls.flatMap((call) => call.args[0].map((end) => end.type))
}

describe('start', () => {
  test('makes a lease in every shard', async () => {
    const { sources, tenure } = setUp(4)
    await tenure.start()
    for (const source of sources) expect(source.beat.calls.map((call) => call.args[0])).toEqual([true])
  })

  test('throws when one shard is away, with no call open and no slot taken', async () => {
    const { first, second, clock, pool, tenure } = setUp()
    second.beat.rule = () => Promise.reject(REDIS_AWAY)
    first.claim.rule = () => claimAnswer([jobOf(0)])
    await expect(tenure.start()).rejects.toBe(REDIS_AWAY)
    expect(pool.busy).toBe(0)
    await tenure.leave()
    expect(first.leave.calls).toHaveLength(1)
    await clock.advance(LEASE_BEAT_MS * 3)
    expect(first.beat.calls).toHaveLength(1)
  })
})

describe('a lease lost in one shard', () => {
  test('cuts the calls of all and ends the tenure', async () => {
    const { clock, first, second, metrics, logger, pool, tenure, give } = setUp()
    await tenure.start()
    await give(first, jobOf(0))
    await give(second, jobOf(1))
    let isLost = false
    void tenure.lost.then(() => (isLost = true))
    first.beat.rule = () => ({ status: 'lease_lost' })
    expect(isLost).toBe(false)
    await clock.advance(LEASE_BEAT_MS)
    expect(isLost).toBe(true)
    expect(pool.busy).toBe(0)
    expect(metrics.counts.filter((count) => count === 'leaseLost')).toHaveLength(1)
    expect(logger.lines.map((line) => line.message)).toEqual([
      'A lease was lost; open calls are cut and their results discarded',
    ])
  })

  test('writes nothing there and gives back in the others, whose leases stand', async () => {
    const { clock, first, second, tenure, give } = setUp()
    await tenure.start()
    await give(first, jobOf(0))
    await give(second, jobOf(1))
    first.beat.rule = () => ({ status: 'lease_lost' })
    await clock.advance(LEASE_BEAT_MS)
    await tenure.lost
    expect(written(first)).toEqual([])
    expect(written(second)).toEqual(['given_back'])
  })

  test('is told once when all are lost', async () => {
    const { clock, sources, metrics, tenure } = setUp(3)
    await tenure.start()
    for (const source of sources) source.beat.rule = () => ({ status: 'lease_lost' })
    await clock.advance(LEASE_BEAT_MS)
    await tenure.lost
    expect(metrics.counts).toEqual(['leaseLost'])
  })

  test('is not over before the other shards’ ends are written', async () => {
    const { clock, first, second, tenure, give } = setUp()
    await tenure.start()
    await give(second, jobOf(1))
    second.finish.rule = null
    let isLost = false
    void tenure.lost.then(() => (isLost = true))
    first.beat.rule = () => ({ status: 'lease_lost' })
    await clock.advance(LEASE_BEAT_MS)
    expect(isLost).toBe(false)
    second.finish.next.answer(['done'])
    await tenure.lost
  })
})

describe('stop', () => {
  test('lets calls end, then gives up the leases', async () => {
    const { clock, first, runner, pool, tenure, give } = setUp()
    await tenure.start()
    const job = jobOf(0)
    await give(first, job)
    const stopping = tenure.stop(10_000)
    await clock.advance(5_000)
    expect(first.leave.calls).toEqual([])
    runner.succeed(job)
    await stopping
    expect(written(first)).toEqual(['ended'])
    expect(first.leave.calls).toHaveLength(1)
    expect(pool.busy).toBe(0)
    expect(clock.timers).toBe(0)
  })

  test('cuts what is open after the grace and gives it back', async () => {
    const { clock, first, pool, tenure, give } = setUp()
    await tenure.start()
    await give(first, jobOf(0))
    const stopping = tenure.stop(10_000)
    await clock.advance(9_999)
    expect(pool.busy).toBe(1)
    await clock.advance(1)
    await stopping
    expect(written(first)).toEqual(['given_back'])
    expect(pool.busy).toBe(0)
  })

  test('gives Redis 3 s more to take the ends, then leaves without', async () => {
    const { clock, first, pool, tenure, give } = setUp()
    await tenure.start()
    await give(first, jobOf(0))
    first.finish.rule = () => Promise.reject(REDIS_AWAY)
    let isStopped = false
    void tenure.stop(1_000).then(() => (isStopped = true))
    await clock.advance(3_999)
    expect(isStopped).toBe(false)
    await clock.advance(101)
    expect(isStopped).toBe(true)
    expect(pool.busy).toBe(0)
  })

  test('is at rest though a shard cannot be left', async () => {
    const { first, second, logger, tenure } = setUp()
    await tenure.start()
    first.leave.rule = () => Promise.reject(REDIS_AWAY)
    await tenure.stop(1_000)
    expect(second.leave.calls).toHaveLength(1)
    expect(logger.lines.map((line) => line.level)).toEqual(['warn'])
  })
})

describe('news', () => {
  test('wake reaches its shard alone', async () => {
    const { first, second, tenure } = setUp()
    await tenure.start()
    await quiescence()
    tenure.wake(1)
    tenure.wake(99)
    await quiescence()
    expect(first.claim.calls).toHaveLength(1)
    expect(second.claim.calls).toHaveLength(2)
  })

  test('due times come with their shard', async () => {
    const { second, tenure } = setUp()
    const seen: Array<[number, number | null]> = []
    tenure.onNextDue((shard, nextDueMs) => seen.push([shard, nextDueMs]))
    second.claim.rule = () => claimAnswer([], { nextDueMs: 42 })
    await tenure.start()
    await quiescence()
    expect(seen).toContainEqual([1, 42])
  })

  test('a freed slot wakes every shard that had none', async () => {
    const { first, second, pool, tenure } = setUp()
    pool.onRelease(() => tenure.slotFreed())
    pool.reserve(100)
    await tenure.start()
    await quiescence()
    expect(first.claim.calls.length + second.claim.calls.length).toBe(0)
    pool.release(100)
    await quiescence()
    expect(first.claim.calls).toHaveLength(1)
    expect(second.claim.calls).toHaveLength(1)
  })
})
