import { describe, expect, test } from 'vitest'
import { CLAIM_BATCH_MAX, LEASE_BEAT_MS, LEASE_MARGIN_MS, LEASE_MS } from '../../../../src/domain/limits.ts'
import type { SlotGrant } from '../../../../src/executor/slots/contender.ts'
import { NOTHING_CLAIMED } from '../../../../src/executor/slots/slot-scheduler.ts'
import type { ClaimedJob } from '../../../../src/ports/jobs.ts'
import { quiescence } from '../../../support/fake-clock.ts'
import { claimAnswer, claimedCallback, claimedJob, REDIS_AWAY, succeeded } from '../executor-fixture.ts'
import { jobs, setUpSession } from './session-fixture.ts'

describe('start', () => {
  test('makes the lease before the first claim', async () => {
    const { source, start } = setUpSession()
    source.beat.rule = null
    const starting = start()
    await quiescence()
    expect(source.claim.calls).toEqual([])
    source.beat.next.answer({ status: 'ok', held: 0 })
    await starting
    expect(source.claim.calls).toHaveLength(1)
  })

  test('throws when Redis is away, and drain is at rest then', async () => {
    const { source, session, scheduler } = setUpSession()
    source.beat.rule = () => Promise.reject(REDIS_AWAY)
    await expect(session.start()).rejects.toBe(REDIS_AWAY)
    await session.drain()
    expect(scheduler.busy).toBe(0)
  })
})

describe('claims', () => {
  test('ask for a batch, run what came and write its end', async () => {
    const { source, runner, metrics, scheduler, start, give } = setUpSession()
    await start()
    const [first, second] = jobs(2) as [ClaimedJob, ClaimedJob]
    await give(first, second)
    expect(source.claim.calls.map((call) => call.args[0].slots)).toContain(CLAIM_BATCH_MAX)
    expect(scheduler.busy).toBe(2)
    runner.succeed(second)
    await quiescence()
    expect(scheduler.busy).toBe(1)
    runner.succeed(first)
    await quiescence()
    expect(scheduler.busy).toBe(0)
    expect(source.finish.calls.map((call) => call.args[0])).toEqual([[succeeded(second)], [succeeded(first)]])
    expect(metrics.counts).toEqual([
      'jobStarted:1000',
      'jobStarted:1000',
      'jobFinished:success:1',
      'jobFinished:success:1',
    ])
  })

  test('only for free slots', async () => {
    const { source, runner, start, give } = setUpSession({ slots: 3 })
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
    const { clock, source, runner, start } = setUpSession({ slots: 2 })
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
    const { clock, source, session, start } = setUpSession()
    await start()
    expect(source.claim.calls).toHaveLength(1)
    await clock.advance(60_000)
    expect(source.claim.calls).toHaveLength(1)
    session.wake()
    await quiescence()
    expect(source.claim.calls).toHaveLength(2)
  })

  test('again at once when a hint came while one was under way', async () => {
    const { source, session, start } = setUpSession()
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

  test('rest when others were quicker, instead of racing them', async () => {
    const { clock, source, start } = setUpSession()
    source.claim.rule = () => claimAnswer([], { runnable: 5 })
    await start()
    expect(source.claim.calls).toHaveLength(1)
    await clock.advance(4)
    expect(source.claim.calls).toHaveLength(1)
    await clock.advance(1)
    expect(source.claim.calls).toHaveLength(2)
  })

  test('tell when the next delayed job is due', async () => {
    const { source, dueTimes, start } = setUpSession()
    source.claim.rule = () => claimAnswer([], { nextDueMs: 42 })
    await start()
    expect(dueTimes).toEqual([42])
  })

  test('a look that finds something runnable asks, unless it is known', async () => {
    const { source, session, start } = setUpSession()
    await start()
    source.claim.rule = null
    session.nudge()
    session.nudge()
    await quiescence()
    expect(source.claim.calls).toHaveLength(2)
    source.claim.next.answer(claimAnswer([], { runnable: 1 }))
    await quiescence()
    session.nudge()
    await quiescence()
    expect(source.claim.calls).toHaveLength(2)
  })

  test('a callback has no start of its own in the metrics', async () => {
    const { source, runner, metrics, scheduler, start } = setUpSession()
    const work = claimedCallback()
    runner.run.rule = () => ({ type: 'callback_ended', work })
    source.claim.rule = () => {
      source.claim.rule = () => claimAnswer([])
      return claimAnswer([work])
    }
    await start()
    expect(metrics.counts).toEqual([])
    expect(source.finish.calls).toHaveLength(1)
    expect(scheduler.busy).toBe(0)
  })

  test('a job whose run ends in a defect is given back', async () => {
    const { source, runner, logger, metrics, start, give } = setUpSession()
    runner.run.rule = () => Promise.reject(new Error('broken'))
    await start()
    const [job] = jobs(1) as [ClaimedJob]
    await give(job)
    expect(source.finish.calls.map((call) => call.args[0])).toEqual([[{ type: 'released', work: job }]])
    expect(metrics.counts).toContain('jobFinished:released:1')
    expect(logger.lines).toContainEqual({
      level: 'error',
      message: 'A job could not be run and was released',
      fields: { jobId: job.jobId, reason: 'broken' },
    })
  })
})

describe('a claim without an answer', () => {
  test('is made again after 200 ms with its slots still its own', async () => {
    const { clock, source, scheduler, other, grants, start } = setUpSession({ slots: 70 })
    source.claim.rule = null
    await start()
    expect(source.claim.next.args[0].slots).toBe(CLAIM_BATCH_MAX)
    const [sent] = source.claim.next.args
    source.claim.next.fail(REDIS_AWAY)
    await clock.advance(199)
    expect(source.claim.calls).toHaveLength(1)
    // Another shard takes what is free meanwhile.
    scheduler.request(other)
    expect(grants[0]?.slots).toBe(70 - CLAIM_BATCH_MAX)
    await clock.advance(1)
    expect(source.claim.next.args[0]).toBe(sent)
    // Redis answers the first claim, as large as that was.
    source.claim.next.answer(claimAnswer(jobs(CLAIM_BATCH_MAX)))
    await quiescence()
    expect(scheduler.busy).toBe(70)
  })

  test('keeps no slots from others after a second; what still comes and finds none goes back', async () => {
    const { clock, source, scheduler, other, grants, runner, start } = setUpSession({ slots: 10 })
    source.claim.rule = null
    await start()
    scheduler.request(other)
    await clock.advance(999)
    expect(grants).toHaveLength(0)
    await clock.advance(1)
    expect(grants[0]?.slots).toBe(10)
    const brought = Array.from({ length: 9 }, (_, i) => claimedJob({ shard: 1, jobId: 1_000 + i }))
    scheduler.bind(grants[0] as SlotGrant, { ...NOTHING_CLAIMED, work: brought })
    const late = jobs(3)
    source.claim.next.answer(claimAnswer(late))
    await quiescence()
    expect(runner.run.calls.map(({ args }) => args[0])).toEqual([late[0]])
    expect(source.finish.calls.map(({ args }) => args[0])).toEqual([
      late.slice(1).map((work) => ({ type: 'released', work })),
    ])
    expect(scheduler.busy).toBe(10)
  })

  test('keeps them when it was us who slept', async () => {
    const { clock, source, scheduler, other, grants, start } = setUpSession({ slots: 10 })
    source.claim.rule = null
    await start()
    scheduler.request(other)
    await clock.sleep(5_000)
    expect(grants).toHaveLength(0)
    source.claim.next.answer(claimAnswer(jobs(10)))
    await quiescence()
    expect(scheduler.busy).toBe(10)
    expect(source.finish.calls).toEqual([])
  })

  test('frees its slots when the session ends before the answer', async () => {
    const { clock, source, scheduler, session, start } = setUpSession()
    source.claim.rule = () => Promise.reject(REDIS_AWAY)
    await start()
    const draining = session.drain()
    await clock.advance(200)
    await draining
    expect(scheduler.busy).toBe(0)
  })

  test('is an error in the log when it is not Redis that is away', async () => {
    const { clock, source, logger, start } = setUpSession()
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

test('a claim that ends in a defect costs the session, and no slot', async () => {
  const { source, scheduler, suspension, reasons, session, start } = setUpSession()
  source.claim.rule = null
  await start()
  suspension.check = () => {
    throw new Error('broken')
  }
  source.claim.next.answer(claimAnswer(jobs(2)))
  await session.lost
  expect(reasons()).toEqual(['a claim failed because of a defect'])
  expect(scheduler.busy).toBe(0)
})

describe('jobs that Redis holds for us and we do not know', () => {
  test('are given back after two beats that say so', async () => {
    const { clock, source, logger, start, give } = setUpSession()
    await start()
    await give(...jobs(1))
    source.releaseUnknown.rule = () => 2
    source.beat.rule = () => ({ status: 'ok', held: 3 })
    await clock.advance(LEASE_BEAT_MS)
    expect(source.releaseUnknown.calls).toEqual([])
    await clock.advance(LEASE_BEAT_MS)
    expect(source.releaseUnknown.calls.map((call) => call.args[0])).toEqual([new Set([0])])
    expect(logger.lines).toContainEqual({
      level: 'warn',
      message: 'Jobs of a lost claim were released',
      fields: { shard: 0, jobs: 2 },
    })
  })

  test('are not looked for while a claim or a finish is under way', async () => {
    const { clock, source, session, start } = setUpSession()
    await start()
    source.beat.rule = () => ({ status: 'ok', held: 3 })
    source.claim.rule = null
    session.wake()
    await clock.advance(LEASE_BEAT_MS * 3)
    expect(source.releaseUnknown.calls).toEqual([])
  })

  test('must be seen twice in a row', async () => {
    const { clock, source, start } = setUpSession()
    await start()
    let beat = 0
    source.beat.rule = () => ({ status: 'ok', held: (beat += 1) % 2 })
    await clock.advance(LEASE_BEAT_MS * 6)
    expect(source.releaseUnknown.calls).toEqual([])
  })
})

describe('a lost lease', () => {
  test('by a refused claim ends the session and frees its slots', async () => {
    const { source, scheduler, lost, reasons, session, start } = setUpSession()
    source.claim.rule = () => ({ status: 'lease_lost' })
    await start()
    expect(reasons()).toEqual(['a claim was refused'])
    expect(lost).toEqual(['early'])
    await session.lost
    expect(scheduler.busy).toBe(0)
    expect(source.claim.calls).toHaveLength(1)
  })

  test('cuts calls, settles them as stale and writes nothing more', async () => {
    const { clock, source, metrics, scheduler, reasons, session, start, give } = setUpSession()
    await start()
    await give(...jobs(3))
    source.beat.rule = () => ({ status: 'lease_lost' })
    await clock.advance(LEASE_BEAT_MS)
    expect(reasons()).toEqual(['Redis had ended the lease'])
    await session.lost
    expect(scheduler.busy).toBe(0)
    expect(source.finish.calls).toEqual([])
    expect(metrics.counts.filter((count) => count === 'jobFinished:stale:1')).toHaveLength(3)
    expect(metrics.counts.filter((count) => count === 'leaseLost')).toHaveLength(1)
  })

  test('leaves to Redis what a claim under way brings afterwards', async () => {
    const { clock, source, runner, scheduler, lost, session, start } = setUpSession()
    await start()
    source.claim.rule = null
    session.wake()
    await clock.advance(0)
    source.beat.rule = () => Promise.reject(REDIS_AWAY)
    await clock.advance(LEASE_MS - LEASE_MARGIN_MS)
    expect(lost).toEqual(['in time'])
    await session.lost
    source.claim.next.answer(claimAnswer(jobs(2)))
    await quiescence()
    expect(runner.run.calls).toEqual([])
    expect(scheduler.busy).toBe(0)
    expect(source.finish.calls).toEqual([])
  })

  test('is seen before an answer that came while we slept is used', async () => {
    const { clock, source, runner, reasons, session, start } = setUpSession()
    await start()
    source.claim.rule = null
    session.wake()
    await quiescence()
    const claim = source.claim.next
    // The answer is read before the timer of the deadline fires.
    await clock.sleep(LEASE_MS, () => claim.answer(claimAnswer(jobs(2))))
    expect(reasons()).toEqual(['the lease ran out'])
    expect(runner.run.calls).toEqual([])
  })

  test('follows from a fault that no resend mends', async () => {
    const { source, runner, reasons, lost, start, give } = setUpSession()
    await start()
    const [job] = jobs(1) as [ClaimedJob]
    await give(job)
    await give()
    source.finish.rule = () => Promise.reject(new Error('WRONGTYPE'))
    runner.succeed(job)
    await quiescence()
    expect(reasons()).toEqual(['ends could not be written'])
    expect(lost).toEqual(['in time'])
  })
})

describe('drain', () => {
  test('claims no more and waits until every end is written', async () => {
    const { clock, source, runner, session, start, give } = setUpSession()
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
    const { clock, source, session, reasons, start, give } = setUpSession()
    await start()
    await give(...jobs(1))
    void session.drain()
    await clock.advance(LEASE_MS * 2)
    expect(source.beat.calls.length).toBe(1 + Math.floor((LEASE_MS * 2) / LEASE_BEAT_MS))
    expect(reasons()).toEqual([])
  })

  test('gives back at once what a claim under way brings', async () => {
    const { source, runner, scheduler, session, start } = setUpSession()
    source.claim.rule = null
    await start()
    const draining = session.drain()
    const [job] = jobs(1) as [ClaimedJob]
    source.claim.next.answer(claimAnswer([job]))
    await draining
    expect(runner.run.calls).toEqual([])
    expect(source.finish.calls.map((call) => call.args[0])).toEqual([[{ type: 'released', work: job }]])
    expect(scheduler.busy).toBe(0)
  })

  test('waits for a callback that has the id of a job whose end was still on its way', async () => {
    const { source, runner, session, start, give } = setUpSession()
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
    session.abort()
    await quiescence()
    source.finish.next.answer(['done'])
    await draining
  })

  test('comes to an end by discard though Redis is away', async () => {
    const { clock, source, runner, scheduler, session, start, give } = setUpSession()
    await start()
    const [job] = jobs(1) as [ClaimedJob]
    await give(job)
    source.finish.rule = () => Promise.reject(REDIS_AWAY)
    const draining = session.drain()
    runner.succeed(job)
    await clock.advance(1_000)
    expect(scheduler.busy).toBe(1)
    session.discard()
    await clock.advance(100)
    await draining
    expect(scheduler.busy).toBe(0)
  })
})

test('leave ends the lease here and in Redis', async () => {
  const { clock, source, session, start } = setUpSession()
  await start()
  await session.drain()
  await session.leave()
  expect(source.leave.calls).toHaveLength(1)
  expect(clock.timers).toBe(0)
})
