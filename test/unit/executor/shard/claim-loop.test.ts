import { describe, expect, test } from 'vitest'
import { CLAIM_BATCH_MAX } from '../../../../src/domain/limits.ts'
import type { SlotGrant } from '../../../../src/executor/slots/contender.ts'
import { NOTHING_CLAIMED } from '../../../../src/executor/slots/slot-scheduler.ts'
import type { ClaimedJob } from '../../../../src/ports/jobs.ts'
import { quiescence } from '../../../support/fake-clock.ts'
import { claimAnswer, claimedCallback, claimedJob, REDIS_AWAY, succeeded } from '../executor-fixture.ts'
import { jobs, setUpSession } from './session-fixture.ts'

describe('a claim', () => {
  test('takes a batch, whose jobs run and whose ends are written', async () => {
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
      'jobStarted:1000:',
      'jobStarted:1000:',
      'jobFinished:success:1',
      'jobFinished:success:1',
    ])
  })

  test('takes no more than the available slots', async () => {
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

  test('waits while every slot is held, until one is freed', async () => {
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

  test('waits while nothing is ready, until a hint comes', async () => {
    const { clock, source, session, start } = setUpSession()
    await start()
    expect(source.claim.calls).toHaveLength(1)
    await clock.advance(60_000)
    expect(source.claim.calls).toHaveLength(1)
    session.wake()
    await quiescence()
    expect(source.claim.calls).toHaveLength(2)
  })

  test('is followed by another at once when a hint came meanwhile', async () => {
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

  test('is followed by a pause when other executors were faster', async () => {
    const { clock, source, start } = setUpSession()
    source.claim.rule = () => claimAnswer([], { runnable: 5 })
    await start()
    expect(source.claim.calls).toHaveLength(1)
    await clock.advance(4)
    expect(source.claim.calls).toHaveLength(1)
    await clock.advance(1)
    expect(source.claim.calls).toHaveLength(2)
  })

  test('comes at once for work that this executor has made ready, however many races it has lost', async () => {
    const { source, session, start } = setUpSession()
    await start()
    for (let hint = 0; hint < 4; hint += 1) {
      session.wake()
      await quiescence()
    }
    const before = source.claim.calls.length
    session.wake()
    await quiescence()
    expect(source.claim.calls.length).toBe(before)
    session.foundWork()
    await quiescence()
    expect(source.claim.calls.length).toBe(before + 1)
  })

  test('waits after a hint when others are faster all the time, until one brings work again', async () => {
    const { clock, source, session, runner, start } = setUpSession()
    const claimsAfterHint = async () => {
      const before = source.claim.calls.length
      session.wake()
      await quiescence()
      return source.claim.calls.length - before
    }
    await start()
    // With that of the start, five claims have found nothing.
    for (let hint = 0; hint < 4; hint += 1) expect(await claimsAfterHint()).toBe(1)
    const empty = source.claim.calls.length
    // 0.4 of 25 ms, from the last claim on, however many hints come.
    expect(await claimsAfterHint()).toBe(0)
    await clock.advance(9)
    expect(await claimsAfterHint()).toBe(0)
    const [job] = jobs(1) as [ClaimedJob]
    source.claim.rule = () => {
      source.claim.rule = () => claimAnswer([])
      return claimAnswer([job])
    }
    await clock.advance(1)
    expect(runner.run.calls).toHaveLength(1)
    expect(source.claim.calls.length).toBeGreaterThan(empty)
    await clock.advance(10)
    for (let hint = 0; hint < 2; hint += 1) expect(await claimsAfterHint()).toBe(1)
  })

  test('is repeated more seldom while others take all that is ready', async () => {
    const { clock, source, start } = setUpSession()
    source.claim.rule = () => claimAnswer([], { runnable: 5 })
    await start()
    await clock.advance(4 * 5)
    expect(source.claim.calls).toHaveLength(5)
    await clock.advance(9)
    expect(source.claim.calls).toHaveLength(5)
    await clock.advance(1)
    expect(source.claim.calls).toHaveLength(6)
  })

  test('is followed by a look four times a second while all is held, and by a claim on a hint', async () => {
    const { clock, source, session, scheduler, start } = setUpSession()
    source.claim.rule = () => ({ status: 'held' })
    await start()
    expect(source.claim.calls).toHaveLength(1)
    expect(scheduler.busy).toBe(0)
    await clock.advance(249)
    expect(source.claim.calls).toHaveLength(1)
    await clock.advance(1)
    expect(source.claim.calls).toHaveLength(2)
    await clock.advance(10_000)
    expect(source.claim.calls).toHaveLength(42)
    session.wake()
    await quiescence()
    expect(source.claim.calls).toHaveLength(43)
  })

  test('passes on when the next delayed job is due', async () => {
    const { source, dueTimes, start } = setUpSession()
    source.claim.rule = () => claimAnswer([], { nextDueMs: 42 })
    await start()
    expect(dueTimes).toEqual([42])
  })

  test('follows a peek that found ready jobs, unless one is requested already', async () => {
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

  test('of a callback is not counted as the start of a job', async () => {
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

  test('of a job that cannot be run because of a defect ends with its quarantine: its call may have been made', async () => {
    const { source, runner, scheduler, defects, start, give } = setUpSession()
    runner.run.rule = () => Promise.reject(new Error('broken'))
    await start()
    const [job] = jobs(1) as [ClaimedJob]
    await give(job)
    expect(source.finish.calls.map((call) => call.args[0])).toEqual([[{ type: 'quarantined', work: job }]])
    expect(defects).toEqual(['end: broken'])
    expect(scheduler.busy).toBe(0)
  })
})

describe('a claim without an answer', () => {
  test('is resent after 200 ms and keeps its slots', async () => {
    const { clock, source, scheduler, other, grants, start } = setUpSession({ slots: 70 })
    source.claim.rule = null
    await start()
    expect(source.claim.next.args[0].slots).toBe(CLAIM_BATCH_MAX)
    const [sent] = source.claim.next.args
    source.claim.next.fail(REDIS_AWAY)
    await clock.advance(199)
    expect(source.claim.calls).toHaveLength(1)
    // Another shard takes the available slots meanwhile.
    scheduler.request(other)
    expect(grants[0]?.slots).toBe(70 - CLAIM_BATCH_MAX)
    await clock.advance(1)
    expect(source.claim.next.args[0]).toBe(sent)
    // Redis answers as to the first claim, with as many jobs.
    source.claim.next.answer(claimAnswer(jobs(CLAIM_BATCH_MAX)))
    await quiescence()
    expect(scheduler.busy).toBe(70)
  })

  test('loses its slots to others after a second; jobs that find none are released', async () => {
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

  test('keeps them when this process did not run meanwhile', async () => {
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

  test('frees its slots when the session ends first', async () => {
    const { clock, source, scheduler, session, start } = setUpSession()
    source.claim.rule = () => Promise.reject(REDIS_AWAY)
    await start()
    const draining = session.drain()
    await clock.advance(200)
    await draining
    expect(scheduler.busy).toBe(0)
  })

  test('is logged as an error unless Redis is away', async () => {
    const { clock, source, logger, start } = setUpSession()
    source.claim.rule = () => {
      source.claim.rule = () => claimAnswer([])
      throw new Error('WRONGTYPE')
    }
    await start()
    await clock.advance(250)
    expect(source.claim.calls).toHaveLength(2)
    const [line] = logger.lines
    expect([line?.level, line?.fields]).toEqual(['error', { loop: 'claim', shard: 0, reason: 'WRONGTYPE' }])
  })

  test('is sent again ever less often when a defect is the cause, and ends with the session', async () => {
    const { clock, source, scheduler, session, start } = setUpSession()
    source.claim.rule = () => Promise.reject(new Error('WRONGTYPE'))
    await start()
    await clock.advance(10_000)
    expect(source.claim.calls).toHaveLength(6)
    await session.drain()
    expect([source.claim.calls.length, scheduler.busy]).toEqual([6, 0])
  })
})

test('an answer that cannot be worked off because of a defect costs the session, but no slot', async () => {
  const { source, scheduler, suspension, reasons, session, start } = setUpSession()
  source.claim.rule = null
  await start()
  suspension.check = () => {
    throw new Error('broken')
  }
  source.claim.next.answer(claimAnswer(jobs(2)))
  expect(await session.lost).toEqual({ isEarly: false, defect: new Error('broken') })
  expect(reasons()).toEqual(['an answer of Redis could not be worked off'])
  expect(scheduler.busy).toBe(0)
})

describe('a crowded team', () => {
  /** A shard whose one team has more ready jobs than it may run. */
  const setUpFull = async () => {
    const world = setUpSession({ slots: 10 })
    const { source, start } = world
    let left = 100
    source.claim.rule = (grant) => {
      const headroom = Math.min(grant.slots, grant.teamHeadroom.get('default') ?? grant.otherTeamsHeadroom)
      const work = Array.from({ length: headroom }, () => claimedJob({ jobId: (left -= 1) }))
      return claimAnswer(work, { runnable: 1, crowdedTeams: ['default'] })
    }
    await start()
    return { ...world, claims: () => source.claim.calls.length }
  }

  test('is probed every 250 ms', async () => {
    const { clock, scheduler, claims } = await setUpFull()
    expect(scheduler.busy).toBeGreaterThanOrEqual(9)
    await clock.advance(1_000)
    const before = claims()
    await clock.advance(10_000)
    expect(claims() - before).toBeLessThanOrEqual(45)
    expect(claims() - before).toBeGreaterThanOrEqual(35)
  })

  test('is claimed for as soon as one of its jobs ends', async () => {
    const { clock, runner, source, claims } = await setUpFull()
    await clock.advance(1_000)
    const before = claims()
    const [first] = runner.run.calls.map(({ args }) => args[0] as ClaimedJob)
    runner.succeed(first as ClaimedJob)
    await quiescence()
    expect(claims()).toBeGreaterThan(before)
    expect(source.claim.calls[before]?.args[0].teamHeadroom.get('default')).toBe(1)
  })

  test('does not keep a hint from being followed, by two claims because the first starts with known queues', async () => {
    const { clock, session, claims } = await setUpFull()
    await clock.advance(1_000)
    await clock.advance(100)
    const before = claims()
    session.wake()
    await quiescence()
    expect(claims() - before).toBe(2)
  })

  test('makes hints wait, so that not each is followed by a claim', async () => {
    const { clock, session, claims } = await setUpFull()
    await clock.advance(1_000)
    const before = claims()
    for (let hint = 0; hint < 100; hint += 1) {
      session.wake()
      await clock.advance(1)
    }
    expect(claims() - before).toBeGreaterThanOrEqual(2)
    expect(claims() - before).toBeLessThanOrEqual(8)
  })
})

describe('bytes that a claim lacked', () => {
  test('are requested at once', async () => {
    const { source, start } = setUpSession()
    source.claim.rule = () => {
      source.claim.rule = () => claimAnswer([])
      return claimAnswer([], { runnable: 1, bytesWanted: 900_000 })
    }
    await start()
    expect(source.claim.calls.map(({ args }) => args[0].bytes)).toEqual([64 * 1024, 900_000])
  })
})
