import { describe, expect, test } from 'vitest'
import { LEASE_BEAT_MS, LEASE_MARGIN_MS, LEASE_MS } from '../../../../src/domain/limits.ts'
import type { ClaimedJob } from '../../../../src/ports/jobs.ts'
import { quiescence } from '../../../support/fake-clock.ts'
import { claimAnswer, claimedCallback, REDIS_AWAY } from '../executor-fixture.ts'
import { jobs, setUpSession } from './session-fixture.ts'

describe('start', () => {
  test('creates the lease before the first claim', async () => {
    const { source, start } = setUpSession()
    source.beat.rule = null
    const starting = start()
    await quiescence()
    expect(source.claim.calls).toEqual([])
    source.beat.next.answer({ status: 'ok', listed: 0, redisMs: 0 })
    await starting
    expect(source.claim.calls).toHaveLength(1)
  })

  test('throws when Redis is away; drain resolves at once then', async () => {
    const { source, session, scheduler } = setUpSession()
    source.beat.rule = () => Promise.reject(REDIS_AWAY)
    await expect(session.start()).rejects.toBe(REDIS_AWAY)
    await session.drain()
    expect(scheduler.busy).toBe(0)
  })
})

describe('a lease to confirm', () => {
  test('stops claims until Redis has confirmed it', async () => {
    const { clock, source, session, start } = setUpSession()
    await start()
    source.beat.rule = null
    session.confirmLease()
    session.wake()
    await quiescence()
    expect(session.isHeld()).toBe(false)
    const claims = source.claim.calls.length
    source.beat.next.fail(REDIS_AWAY)
    await clock.advance(499)
    expect(source.claim.calls).toHaveLength(claims)
    await clock.advance(1)
    source.beat.next.answer({ status: 'ok', listed: 0, redisMs: 0 })
    await quiescence()
    expect(session.isHeld()).toBe(true)
    expect(source.claim.calls).toHaveLength(claims + 1)
  })

  test('delays the jobs of a claim, which do not start if it is lost', async () => {
    const { source, runner, suspension, session, start, lost } = setUpSession()
    source.claim.rule = null
    await start()
    suspension.check = () => session.confirmLease()
    source.beat.rule = null
    source.claim.next.answer(claimAnswer(jobs(1)))
    await quiescence()
    expect(runner.run.calls).toEqual([])
    source.beat.next.answer({ status: 'lease_lost' })
    await quiescence()
    expect(runner.run.calls).toEqual([])
    expect(lost).toEqual(['early'])
  })
})

describe('jobs that only Redis lists for this session', () => {
  test('are released after two beats that list them', async () => {
    const { clock, source, logger, start, give } = setUpSession()
    await start()
    await give(...jobs(1))
    source.releaseUnknown.rule = () => 2
    source.beat.rule = () => ({ status: 'ok', listed: 3, redisMs: 0 })
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

  test('do not count during a claim or a finish', async () => {
    const { clock, source, session, start } = setUpSession()
    await start()
    source.beat.rule = () => ({ status: 'ok', listed: 3, redisMs: 0 })
    source.claim.rule = null
    session.wake()
    await clock.advance(LEASE_BEAT_MS * 3)
    expect(source.releaseUnknown.calls).toEqual([])
  })

  test('must be listed twice in a row', async () => {
    const { clock, source, start } = setUpSession()
    await start()
    let beat = 0
    source.beat.rule = () => ({ status: 'ok', listed: (beat += 1) % 2, redisMs: 0 })
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

  test('aborts calls, settles them as stale and writes nothing more', async () => {
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

  test('ignores the jobs that a claim in progress still brings', async () => {
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

  test('is noticed before an answer is used that came during a freeze', async () => {
    const { clock, source, runner, reasons, session, start } = setUpSession()
    await start()
    source.claim.rule = null
    session.wake()
    await quiescence()
    const claim = source.claim.next
    // The answer is read before the timer of the deadline runs.
    await clock.sleep(LEASE_MS, () => claim.answer(claimAnswer(jobs(2))))
    expect(reasons()).toEqual(['the lease ran out'])
    expect(runner.run.calls).toEqual([])
  })

  test('does not follow an end that throws: neither its call nor those beside it are made again', async () => {
    const { clock, source, runner, scheduler, reasons, lost, defects, start, give } = setUpSession()
    await start()
    const [bad, good] = jobs(2) as [ClaimedJob, ClaimedJob]
    await give(bad, good)
    source.finish.rule = (batch) => {
      if (batch.some(({ type, work }) => work === bad && type !== 'quarantined')) throw new Error('WRONGTYPE')
      return batch.map(() => 'done')
    }
    runner.succeed(bad)
    runner.succeed(good)
    await quiescence()
    await clock.advance(LEASE_MS)
    expect(reasons()).toEqual([])
    expect(lost).toEqual([])
    expect(defects).toEqual(['end: WRONGTYPE'])
    expect(source.finish.calls.slice(-2).map(({ args }) => args[0].map(({ type }) => type))).toEqual([
      ['ended'],
      ['quarantined'],
    ])
    expect(runner.run.calls).toHaveLength(2)
    expect(scheduler.busy).toBe(0)
  })
})

describe('what throws beside the jobs', () => {
  test('when they start keeps none of them from its call', async () => {
    const { source, runner, metrics, scheduler, session, defects, start, give } = setUpSession()
    await start()
    metrics.jobStarted = () => {
      throw new Error('no figure')
    }
    const all = jobs(3)
    await give(...all)
    expect(runner.run.calls.map(({ args }) => args[0])).toEqual(all)
    expect(defects).toEqual(Array.from({ length: 3 }, () => 'aside: no figure'))
    for (const job of all) runner.succeed(job)
    await quiescence()
    expect(source.finish.calls).toHaveLength(1)
    expect(scheduler.busy).toBe(0)
    expect(session.isHeld()).toBe(true)
  })

  test('when the next due time is noted keeps the session claiming', async () => {
    const { runner, dueTimes, session, defects, start, give } = setUpSession()
    await start()
    dueTimes.push = () => {
      throw new Error('no promoter')
    }
    await give(...jobs(1))
    await give(...jobs(1))
    expect(runner.run.calls).toHaveLength(2)
    expect(defects).toContain('aside: no promoter')
    expect(session.isHeld()).toBe(true)
  })

  test('when their ends are counted frees their slots, and the next ends are written', async () => {
    const { source, runner, metrics, scheduler, session, defects, start, give } = setUpSession()
    await start()
    metrics.jobFinished = () => {
      throw new Error('no figure')
    }
    const [first, second] = jobs(2) as [ClaimedJob, ClaimedJob]
    await give(first, second)
    runner.succeed(first)
    await quiescence()
    runner.succeed(second)
    await quiescence()
    expect(source.finish.calls).toHaveLength(2)
    expect(scheduler.busy).toBe(0)
    expect(defects).toEqual(['aside: no figure', 'aside: no figure'])
    await session.drain()
  })

  test('when slots are freed lets the session come to rest all the same', async () => {
    const { runner, scheduler, session, defects, start, give } = setUpSession()
    await start()
    const [job] = jobs(1) as [ClaimedJob]
    await give(job)
    scheduler.free = () => {
      throw new Error('no account')
    }
    const draining = session.drain()
    runner.succeed(job)
    await draining
    expect(defects).toEqual(['aside: no account'])
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

  test('releases the jobs of a claim in progress', async () => {
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

  test('waits for a callback with the id of a job whose end is being written', async () => {
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

  test('resolves after discard though Redis is away', async () => {
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

test('an answer to a discarded claim is ignored', async () => {
  const { source, runner, logger, session, start } = setUpSession()
  source.claim.rule = null
  await start()
  const draining = session.drain()
  session.discard()
  await draining
  source.claim.next.answer(claimAnswer(jobs(1)))
  await quiescence()
  expect(runner.run.calls).toEqual([])
  expect(source.finish.calls).toEqual([])
  expect(logger.lines).toEqual([])
})

test('leave ends the lease here and in Redis', async () => {
  const { clock, source, session, start } = setUpSession()
  await start()
  await session.drain()
  await session.leave()
  expect(source.leave.calls).toHaveLength(1)
  expect(clock.timers).toBe(0)
})
