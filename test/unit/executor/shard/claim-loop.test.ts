import { describe, expect, test } from 'vitest'
import type { ClaimedJob } from '../../../../src/ports/jobs.ts'
import { quiescence } from '../../../support/fake-clock.ts'
import { claimAnswer, claimedJob, REDIS_AWAY } from '../executor-fixture.ts'
import { jobs, setUpSession } from './session-fixture.ts'

describe('what was passed over for want of room', () => {
  /** A shard in which one team has more ready jobs than it may run. */
  const setUpFull = async () => {
    const world = setUpSession({ slots: 10 })
    const { source, start } = world
    let left = 100
    source.claim.rule = (grant) => {
      const room = Math.min(grant.slots, grant.teamHeadroom.get('default') ?? grant.otherTeamsHeadroom)
      const work = Array.from({ length: room }, () => claimedJob({ jobId: (left -= 1) }))
      return claimAnswer(work, { runnable: 1, throttledTeams: ['default'] })
    }
    await start()
    return { ...world, claims: () => source.claim.calls.length }
  }

  test('is not asked for again and again', async () => {
    const { clock, scheduler, claims } = await setUpFull()
    expect(scheduler.busy).toBeGreaterThanOrEqual(9)
    await clock.advance(1_000)
    const before = claims()
    await clock.advance(10_000)
    expect(claims() - before).toBeLessThanOrEqual(45)
    expect(claims() - before).toBeGreaterThanOrEqual(35)
  })

  test('is asked for when one of its own ends', async () => {
    const { clock, runner, source, claims } = await setUpFull()
    await clock.advance(1_000)
    const before = claims()
    const [first] = runner.run.calls.map(({ args }) => args[0] as ClaimedJob)
    runner.succeed(first as ClaimedJob)
    await quiescence()
    expect(claims()).toBeGreaterThan(before)
    expect(source.claim.calls[before]?.args[0].teamHeadroom.get('default')).toBe(1)
  })

  test('does not keep a hint from being followed, by a second claim when the first asked whom it knew', async () => {
    const { clock, session, claims } = await setUpFull()
    await clock.advance(1_000)
    await clock.advance(100)
    const before = claims()
    session.wake()
    await quiescence()
    expect(claims() - before).toBe(2)
  })

  test('does not let every hint be followed at once', async () => {
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
  test('are asked for at once', async () => {
    const { source, start } = setUpSession()
    source.claim.rule = () => {
      source.claim.rule = () => claimAnswer([])
      return claimAnswer([], { runnable: 1, bytesWanted: 900_000 })
    }
    await start()
    expect(source.claim.calls.map(({ args }) => args[0].bytes)).toEqual([64 * 1024, 900_000])
  })
})

describe('in doubt', () => {
  test('nothing is asked for until Redis has said that the lease stands', async () => {
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
    source.beat.next.answer({ status: 'ok', held: 0 })
    await quiescence()
    expect(session.isHeld()).toBe(true)
    expect(source.claim.calls).toHaveLength(claims + 1)
  })

  test('what a claim brings is not begun before', async () => {
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
