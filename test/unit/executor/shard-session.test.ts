import { describe, expect, test } from 'vitest'
import { CLAIM_BATCH_MAX, LEASE_BEAT_MS, LEASE_MARGIN_MS, LEASE_MS } from '../../../src/domain/limits.ts'
import { createJobPool } from '../../../src/executor/job-pool.ts'
import { createShardSession } from '../../../src/executor/shard-session.ts'
import type { ClaimedJob } from '../../../src/ports/job-source.ts'
import { createFakeClock, quiescence } from '../../support/fake-clock.ts'
import {
  claimAnswer,
  claimedCallback,
  claimedJob,
  createFakeRunner,
  createFakeSource,
  createRecordingLogger,
  createRecordingMetrics,
  REDIS_AWAY,
  succeeded,
} from './executor-fixture.ts'

function setUp(options: { slots?: number; isPaused?: () => boolean } = {}) {
  const clock = createFakeClock()
  const source = createFakeSource()
  const runner = createFakeRunner()
  const logger = createRecordingLogger()
  const metrics = createRecordingMetrics()
  const pool = createJobPool(options.slots ?? 100)
  const cut = new AbortController()
  const lost: string[] = []
  const session = createShardSession({
    source,
    pool,
    runner,
    clock,
    logger,
    metrics,
    signal: cut.signal,
    isPaused: options.isPaused ?? (() => false),
    onLost: (reason) => {
      lost.push(reason)
      cut.abort()
    },
  })
  pool.onRelease(() => session.slotFreed())
  const start = async () => {
    await session.start()
    await quiescence()
  }
  /** Answers the next claim with these jobs and nothing afterwards. */
  const give = async (...jobs: ClaimedJob[]) => {
    source.claim.rule = () => {
      source.claim.rule = () => claimAnswer([])
      return claimAnswer(jobs)
    }
    session.wake()
    await quiescence()
  }
  return { clock, source, runner, logger, metrics, pool, cut, lost, session, start, give }
}

function jobs(count: number): ClaimedJob[] {
  return Array.from({ length: count }, (_, i) => claimedJob({ jobId: i * 16 }))
}

describe('start', () => {
  test('makes the lease before the first claim', async () => {
    const { source, start, session } = setUp()
    source.beat.rule = null
    const starting = start()
    await quiescence()
    expect(source.claim.calls).toEqual([])
    source.beat.next.answer({ status: 'ok', held: 0 })
    await starting
    expect(source.claim.calls).toHaveLength(1)
    expect(session.shard).toBe(0)
  })

  test('throws when Redis is away, and drain is at rest then', async () => {
    const { source, session, pool } = setUp()
    source.beat.rule = () => Promise.reject(REDIS_AWAY)
    await expect(session.start()).rejects.toBe(REDIS_AWAY)
    await session.drain()
    expect(pool.busy).toBe(0)
  })
})

describe('claims', () => {
  test('ask for a batch, run what came and write its end', async () => {
    const { source, runner, metrics, pool, start, give } = setUp()
    await start()
    const [first, second] = jobs(2) as [ClaimedJob, ClaimedJob]
    await give(first, second)
    expect(source.claim.calls.map((call) => call.args[0].slots)).toContain(CLAIM_BATCH_MAX)
    expect(pool.busy).toBe(2)
    runner.succeed(second)
    await quiescence()
    expect(pool.busy).toBe(1)
    runner.succeed(first)
    await quiescence()
    expect(pool.busy).toBe(0)
    expect(source.finish.calls.map((call) => call.args[0])).toEqual([[succeeded(second)], [succeeded(first)]])
    expect(metrics.counts).toEqual([
      'jobStarted:1000',
      'jobStarted:1000',
      'jobFinished:success:1',
      'jobFinished:success:1',
    ])
  })

  test('only for free slots', async () => {
    const { source, runner, start, give } = setUp({ slots: 3 })
    await start()
    expect(source.claim.calls.at(-1)?.args[0]?.slots).toBe(3)
    const held = jobs(2)
    await give(...held)
    source.claim.rule = null
    await quiescence()
    const before = source.claim.calls.length
    runner.succeed(held[0] as ClaimedJob)
    await quiescence()
    expect(source.claim.calls.length).toBe(before)
  })

  test('none while every slot is taken; a freed one lets the next go out', async () => {
    const { clock, source, runner, start } = setUp({ slots: 2 })
    const [first, second] = jobs(2) as [ClaimedJob, ClaimedJob]
    source.claim.rule = () => {
      source.claim.rule = null
      return claimAnswer([first, second], { runnable: 1 })
    }
    await start()
    await clock.advance(3_000)
    expect(source.claim.calls).toHaveLength(1)
    runner.succeed(first)
    await quiescence()
    expect(source.claim.calls).toHaveLength(2)
    expect(source.claim.next.args[0].slots).toBe(1)
  })

  test('none while nothing can run, until a hint comes', async () => {
    const { clock, source, session, start } = setUp()
    await start()
    expect(source.claim.calls).toHaveLength(1)
    await clock.advance(60_000)
    expect(source.claim.calls).toHaveLength(1)
    session.wake()
    await quiescence()
    expect(source.claim.calls).toHaveLength(2)
  })

  test('again at once when a hint came while one was under way', async () => {
    const { source, session, start } = setUp()
    source.claim.rule = null
    await start()
    session.wake()
    source.claim.next.answer(claimAnswer([]))
    await quiescence()
    expect(source.claim.calls).toHaveLength(2)
    source.claim.next.answer(claimAnswer([]))
    await quiescence()
    expect(source.claim.calls).toHaveLength(2)
  })

  test('none while paused', async () => {
    let isPaused = true
    const { clock, source, start } = setUp({ isPaused: () => isPaused })
    await start()
    await clock.advance(5_000)
    expect(source.claim.calls).toEqual([])
    isPaused = false
    await clock.advance(1_000)
    expect(source.claim.calls).toHaveLength(1)
  })

  test('rest when others were quicker, instead of racing them', async () => {
    const { clock, source, start } = setUp()
    source.claim.rule = () => claimAnswer([], { runnable: 5 })
    await start()
    expect(source.claim.calls).toHaveLength(1)
    await clock.advance(4)
    expect(source.claim.calls).toHaveLength(1)
    await clock.advance(1)
    expect(source.claim.calls).toHaveLength(2)
  })

  test('tell when the next delayed job is due', async () => {
    const { source, session, start } = setUp()
    const seen: Array<number | null> = []
    session.onNextDue((nextDueMs) => seen.push(nextDueMs))
    source.claim.rule = () => claimAnswer([], { nextDueMs: 42 })
    await start()
    expect(seen).toEqual([42])
  })

  test('a callback has no start of its own in the metrics', async () => {
    const { source, runner, metrics, pool, start } = setUp()
    const work = claimedCallback()
    runner.run.rule = () => ({ type: 'callback_ended', work })
    source.claim.rule = () => {
      source.claim.rule = () => claimAnswer([])
      return claimAnswer([work])
    }
    await start()
    expect(metrics.counts).toEqual([])
    expect(source.finish.calls).toHaveLength(1)
    expect(pool.busy).toBe(0)
  })

  test('a job whose run ends in a defect is given back', async () => {
    const { source, runner, logger, metrics, start, give } = setUp()
    runner.run.rule = () => Promise.reject(new Error('broken'))
    await start()
    const [job] = jobs(1) as [ClaimedJob]
    await give(job)
    expect(source.finish.calls.map((call) => call.args[0])).toEqual([[{ type: 'given_back', work: job }]])
    expect(metrics.counts).toContain('jobFinished:released:1')
    expect(logger.lines).toContainEqual({
      level: 'error',
      message: 'A job could not be run; it waits',
      fields: { jobId: job.jobId, reason: 'broken' },
    })
  })
})

describe('a claim without an answer', () => {
  test('is made again after 200 ms with its slots still its own', async () => {
    const { clock, source, pool, start } = setUp({ slots: 70 })
    source.claim.rule = null
    await start()
    expect(source.claim.next.args[0].slots).toBe(CLAIM_BATCH_MAX)
    source.claim.next.fail(REDIS_AWAY)
    await clock.advance(199)
    expect(source.claim.calls).toHaveLength(1)
    // Another shard takes what is free meanwhile.
    expect(pool.reserve(100)).toBe(70 - CLAIM_BATCH_MAX)
    await clock.advance(1)
    // Redis answers the first claim, as large as that was.
    source.claim.next.answer(claimAnswer(jobs(CLAIM_BATCH_MAX)))
    await quiescence()
    expect(pool.busy).toBe(70)
  })

  test('frees its slots when the session ends before the answer', async () => {
    const { clock, source, pool, session, start } = setUp()
    source.claim.rule = () => Promise.reject(REDIS_AWAY)
    await start()
    const draining = session.drain()
    await clock.advance(200)
    await draining
    expect(pool.busy).toBe(0)
  })

  test('is an error in the log when it is not Redis that is away', async () => {
    const { clock, source, logger, start } = setUp()
    source.claim.rule = () => {
      source.claim.rule = () => claimAnswer([])
      throw new Error('WRONGTYPE')
    }
    await start()
    await clock.advance(200)
    expect(source.claim.calls).toHaveLength(2)
    expect(logger.lines.map((line) => [line.level, line.message])).toEqual([['error', 'A claim failed']])
  })
})

describe('jobs that Redis holds for us and we do not know', () => {
  test('are given back after two beats that say so', async () => {
    const { clock, source, logger, start, give } = setUp()
    await start()
    await give(...jobs(1))
    source.giveBackUnknown.rule = () => 2
    source.beat.rule = () => ({ status: 'ok', held: 3 })
    await clock.advance(LEASE_BEAT_MS)
    expect(source.giveBackUnknown.calls).toEqual([])
    await clock.advance(LEASE_BEAT_MS)
    expect(source.giveBackUnknown.calls.map((call) => call.args[0])).toEqual([new Set([0])])
    expect(logger.lines).toContainEqual({
      level: 'warn',
      message: 'Jobs of a lost claim were given back',
      fields: { shard: 0, jobs: 2 },
    })
  })

  test('are not looked for while a claim or a finish is under way', async () => {
    const { clock, source, session, start } = setUp()
    await start()
    source.beat.rule = () => ({ status: 'ok', held: 3 })
    source.claim.rule = null
    session.wake()
    await clock.advance(LEASE_BEAT_MS * 3)
    expect(source.giveBackUnknown.calls).toEqual([])
  })

  test('must be seen twice in a row', async () => {
    const { clock, source, start } = setUp()
    await start()
    let beat = 0
    source.beat.rule = () => ({ status: 'ok', held: (beat += 1) % 2 })
    await clock.advance(LEASE_BEAT_MS * 6)
    expect(source.giveBackUnknown.calls).toEqual([])
  })
})

describe('a lost lease', () => {
  test('by a refused claim ends the session and frees its slots', async () => {
    const { source, pool, lost, session, start } = setUp()
    source.claim.rule = () => ({ status: 'lease_lost' })
    await start()
    expect(lost).toEqual(['a claim was refused'])
    await session.drain()
    expect(pool.busy).toBe(0)
    expect(source.claim.calls).toHaveLength(1)
  })

  test('cuts calls, settles them as stale and writes nothing more', async () => {
    const { clock, source, metrics, pool, lost, session, start, give } = setUp()
    await start()
    await give(...jobs(3))
    source.beat.rule = () => ({ status: 'lease_lost' })
    await clock.advance(LEASE_BEAT_MS)
    expect(lost).toEqual(['Redis had ended the lease'])
    await session.drain()
    expect(pool.busy).toBe(0)
    expect(source.finish.calls).toEqual([])
    expect(metrics.counts.filter((count) => count === 'jobFinished:stale:1')).toHaveLength(3)
  })

  test('settles jobs too that a claim under way brings afterwards', async () => {
    const { clock, source, pool, lost, session, start } = setUp()
    await start()
    source.claim.rule = null
    session.wake()
    await clock.advance(0)
    source.beat.rule = () => Promise.reject(REDIS_AWAY)
    await clock.advance(LEASE_MS - LEASE_MARGIN_MS)
    expect(lost).toEqual(['the lease ran out'])
    const draining = session.drain()
    source.claim.next.answer(claimAnswer(jobs(2)))
    await draining
    expect(pool.busy).toBe(0)
    expect(source.finish.calls).toEqual([])
  })

  test('follows from a fault that no resend mends', async () => {
    const { source, runner, lost, start, give } = setUp()
    await start()
    const [job] = jobs(1) as [ClaimedJob]
    await give(job)
    await give()
    source.finish.rule = () => Promise.reject(new Error('WRONGTYPE'))
    runner.succeed(job)
    await quiescence()
    expect(lost).toEqual(['ends could not be written'])
  })
})

describe('drain', () => {
  test('claims no more and waits until every end is written', async () => {
    const { clock, source, runner, session, start, give } = setUp()
    await start()
    const [job] = jobs(1) as [ClaimedJob]
    await give(job)
    const claims = source.claim.calls.length
    source.finish.rule = null
    let isDrained = false
    const draining = session.drain().then(() => (isDrained = true))
    session.wake()
    await clock.advance(LEASE_BEAT_MS)
    runner.succeed(job)
    await quiescence()
    expect(isDrained).toBe(false)
    source.finish.next.answer(['done'])
    await draining
    expect(source.claim.calls).toHaveLength(claims)
  })

  test('keeps the lease meanwhile', async () => {
    const { clock, source, session, lost, start, give } = setUp()
    await start()
    await give(...jobs(1))
    void session.drain()
    await clock.advance(LEASE_MS * 2)
    expect(source.beat.calls.length).toBe(1 + (LEASE_MS * 2) / LEASE_BEAT_MS)
    expect(lost).toEqual([])
  })

  test('gives back at once what a claim under way brings', async () => {
    const { source, runner, pool, session, start } = setUp()
    source.claim.rule = null
    await start()
    const draining = session.drain()
    const [job] = jobs(1) as [ClaimedJob]
    source.claim.next.answer(claimAnswer([job]))
    await draining
    expect(runner.run.calls).toEqual([])
    expect(source.finish.calls.map((call) => call.args[0])).toEqual([[{ type: 'given_back', work: job }]])
    expect(pool.busy).toBe(0)
  })

  test('waits for a callback that has the id of a job whose end was still on its way', async () => {
    const { source, runner, cut, session, start, give } = setUp()
    source.finish.rule = null
    await start()
    const [job] = jobs(1) as [ClaimedJob]
    await give(job)
    runner.succeed(job)
    await quiescence()
    const callback = claimedCallback({ jobId: job.jobId })
    source.claim.rule = () => {
      source.claim.rule = () => claimAnswer([])
      return claimAnswer([callback])
    }
    session.wake()
    await quiescence()
    let isDrained = false
    const draining = session.drain().then(() => (isDrained = true))
    source.finish.next.answer(['done'])
    await quiescence()
    expect(isDrained).toBe(false)
    cut.abort()
    await quiescence()
    source.finish.next.answer(['done'])
    await draining
  })

  test('comes to an end by discard though Redis is away', async () => {
    const { clock, source, runner, pool, session, start, give } = setUp()
    await start()
    const [job] = jobs(1) as [ClaimedJob]
    await give(job)
    source.finish.rule = () => Promise.reject(REDIS_AWAY)
    const draining = session.drain()
    runner.succeed(job)
    await clock.advance(1_000)
    expect(pool.busy).toBe(1)
    session.discard()
    await clock.advance(100)
    await draining
    expect(pool.busy).toBe(0)
  })
})

test('leave ends the lease here and in Redis', async () => {
  const { clock, source, session, start } = setUp()
  await start()
  await session.drain()
  await session.leave()
  expect(source.leave.calls).toHaveLength(1)
  expect(clock.timers).toBe(0)
})
