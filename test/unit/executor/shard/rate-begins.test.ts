import { describe, expect, test } from 'vitest'
import type { ClaimedJob } from '../../../../src/ports/jobs.ts'
import { quiescence } from '../../../support/fake-clock.ts'
import { claimAnswer, claimedCallback, claimedJob } from '../executor-fixture.ts'
import { setUpSession } from './session-fixture.ts'

/** Redis's clock minus ours. */
const AHEAD_MS = 1_000_000
const LATE_MS_MAX = 8

/** A session whose beats are answered at once, and whose claims are answered by `answer`. */
async function setUp() {
  const given = setUpSession()
  const { clock, source, start } = given
  const redisMs = () => clock.monotonicMs() + AHEAD_MS
  source.beat.rule = () => ({ status: 'ok', listed: 0, redisMs: redisMs() })
  source.claim.rule = null
  await start()
  /** Answers the claim under way: Redis has run it `heldUpMs` ago. */
  const answer = async (work: readonly ClaimedJob[], heldUpMs = 0) => {
    source.claim.next.answer(claimAnswer(work, { redisMs: redisMs() - heldUpMs }))
    await quiescence()
  }
  /** A job that its claim lets begin so many ms from now on. */
  const paced = (inMs: number, change: Parameters<typeof claimedJob>[0] = {}) => {
    const fromMs = redisMs() + inMs
    return claimedJob({ ...change, beginsWithin: { fromMs, toMs: fromMs + LATE_MS_MAX } })
  }
  const begun = () => given.runner.run.calls.map(({ args }) => args[0].jobId)
  const released = () => source.finish.calls.flatMap(({ args }) => args[0].map(({ type }) => type))
  return { ...given, answer, paced, begun, released }
}

describe('a job of a queue with a rate', () => {
  test('begins at once when the answer to its claim comes in time', async () => {
    const { clock, answer, paced, begun, metrics, source } = await setUp()
    await clock.advance(5)
    const job = paced(-5)
    await answer([job], 5)
    expect(begun()).toEqual([job.jobId])
    expect(metrics.counts).toEqual(['jobStarted:1000:'])
    expect(source.claim.calls.map(({ args }) => args[0].leadMs)).toEqual([undefined])
  })

  test('goes back when the answer was held up for longer than the rate allows for', async () => {
    const { clock, answer, paced, begun, released, metrics, scheduler } = await setUp()
    await clock.advance(300)
    await answer([paced(-300), paced(-300, { jobId: 16 })], 300)
    expect(begun()).toEqual([])
    expect(released()).toEqual(['released', 'released'])
    expect(metrics.counts.filter((count) => count === 'claimAnsweredLate')).toHaveLength(2)
    expect(metrics.counts).not.toContain('jobStarted:1000:')
    expect(scheduler.busy).toBe(0)
  })

  test('goes back when its claim had to be sent again, though that was answered at once', async () => {
    const { clock, answer, paced, begun, released } = await setUp()
    await clock.advance(60)
    await answer([paced(-60)])
    expect([begun(), released()]).toEqual([[], ['released']])
  })

  test('has company in the same answer that begins all the same', async () => {
    const { clock, source, paced, begun } = await setUp()
    await clock.advance(300)
    const [plain, callback] = [claimedJob({ jobId: 32 }), claimedCallback()]
    source.claim.next.answer(claimAnswer([paced(-300), plain, callback]))
    await quiescence()
    expect(begun()).toEqual([32, callback.jobId])
  })

  test('waits for its time, which is ahead of a claim whose answer was expected late', async () => {
    const { clock, answer, paced, begun } = await setUp()
    const job = paced(200)
    await answer([job])
    await clock.advance(199)
    expect(begun()).toEqual([])
    await clock.advance(1)
    expect(begun()).toEqual([job.jobId])
  })

  test('that waits goes back when the session ends meanwhile', async () => {
    const { clock, session, answer, paced, begun, released, metrics } = await setUp()
    await answer([paced(200)])
    const drained = session.drain()
    await clock.advance(200)
    await drained
    expect([begun(), released()]).toEqual([[], ['released']])
    expect(metrics.counts).not.toContain('claimAnsweredLate')
  })

  test('that waits goes back when the machine was suspended meanwhile', async () => {
    const { clock, answer, paced, begun, released } = await setUp()
    await answer([paced(200)])
    clock.suspend(5)
    await clock.advance(200)
    expect([begun(), released()]).toEqual([[], ['released']])
  })

  test('does not wait for a clock that was set back', async () => {
    const { clock, source, session, answer, paced, begun, released } = await setUp()
    await answer([paced(200)])
    source.beat.rule = () => ({ status: 'ok', listed: 0, redisMs: clock.monotonicMs() - AHEAD_MS })
    await clock.advance(3_000)
    expect(begun()).toEqual([0])
    session.foundWork()
    await quiescence()
    const job = paced(0, { jobId: 16 })
    source.claim.next.answer(claimAnswer([job]))
    await quiescence()
    expect([begun(), released()]).toEqual([[0], ['released']])
  })

  test('goes back when the machine was suspended while its answer was under way', async () => {
    const { clock, answer, paced, begun, released } = await setUp()
    const job = paced(0)
    clock.suspend(300)
    await answer([job])
    expect([begun(), released()]).toEqual([[], ['released']])
  })

  test('that wakes too late goes back, as one whose answer was late', async () => {
    const { clock, answer, paced, begun, released } = await setUp()
    await answer([paced(200)])
    await clock.sleep(400)
    await clock.advance(0)
    expect([begun(), released()]).toEqual([[], ['released']])
  })
})

test('claims after a late answer ask for a lead, and again for none when answers are quick', async () => {
  const { clock, source, session, answer } = await setUp()
  const leads = async (heldUpMs: number) => {
    session.foundWork()
    await quiescence()
    await clock.advance(heldUpMs)
    await answer([], heldUpMs)
  }
  expect(source.claim.calls.at(-1)?.args[0].leadMs).toBe(undefined)
  await clock.advance(100)
  await answer([], 100)
  for (let i = 0; i < 9; i += 1) await leads(0)
  const asked = source.claim.calls.map(({ args }) => args[0].leadMs ?? 0)
  expect(asked).toEqual([0, 125, 125, 125, 125, 125, 125, 125, 125, 0])
})
