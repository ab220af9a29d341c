import { describe, expect, test } from 'vitest'
import { AnswerClock } from '../../../../src/executor/shard/answer-clock.ts'

/** Redis's clock minus ours. */
const AHEAD_MS = 5_000
const WALL_AHEAD_MS = 1_800_000_000_000

/** Our clocks. */
class Times {
  monotonicAt = 0
  suspendedMs = 0
  monotonicMs = () => this.monotonicAt
  wallMs = () => Math.floor(WALL_AHEAD_MS + this.monotonicAt + this.suspendedMs)
}

/** Reads answers to steps that were sent at these times of ours. @param ways how long each took there and back */
function clockAfter(
  answers: ReadonlyArray<{ sentMs: number; ways: readonly [number, number]; aheadMs?: number }>,
) {
  const times = new Times()
  const clock = new AnswerClock(times)
  for (const { sentMs, ways, aheadMs = AHEAD_MS } of answers) {
    times.monotonicAt = sentMs
    const sent = clock.nowMs()
    times.monotonicAt = sentMs + ways[0] + ways[1]
    clock.note(Math.floor(sentMs + ways[0] + aheadMs), sent)
  }
  /** Redis's time, as far as it is known. */
  const redisMs = () => -clock.until(0)
  return { clock, times, redisMs }
}

const QUICK: readonly [number, number] = [0.2, 0.3]
const quick = (sentMs: number) => ({ sentMs, ways: QUICK })

test('nothing is known before an answer', () => {
  const { clock } = clockAfter([])
  expect([clock.until(1), clock.leadMs]).toEqual([0, 0])
})

describe("Redis's time", () => {
  test('is never ahead, and an answer that was held up does not set it back', () => {
    const { redisMs } = clockAfter([quick(100), { sentMs: 200, ways: [0.2, 400] }])
    expect(redisMs()).toBeGreaterThan(600.2 + AHEAD_MS - 3)
    expect(redisMs()).toBeLessThanOrEqual(600.2 + AHEAD_MS)
  })

  test('is not taken from a step that was held up on its way there', () => {
    const { redisMs } = clockAfter([quick(100), { sentMs: 200, ways: [400, 0.3] }])
    expect(redisMs()).toBeGreaterThan(600.3 + AHEAD_MS - 3)
  })

  test('goes back with a clock that was set back, at the next answer', () => {
    const { redisMs } = clockAfter([quick(100), { ...quick(200), aheadMs: AHEAD_MS - 60_000 }])
    expect(redisMs()).toBeLessThanOrEqual(202 + AHEAD_MS - 60_000)
  })

  test('goes on with a clock that was set forward, at the next answer', () => {
    const { redisMs } = clockAfter([quick(100), { ...quick(200), aheadMs: AHEAD_MS + 60_000 }])
    expect(redisMs()).toBeGreaterThan(199 + AHEAD_MS + 60_000)
  })

  test('follows a way that has become longer for good', () => {
    const slow = Array.from({ length: 200 }, (_, i) => ({ sentMs: 1_000 * i, ways: [50, 50] as const }))
    const { clock, redisMs } = clockAfter([quick(0), ...slow])
    expect(clock.leadMs).toBe(0)
    expect(redisMs()).toBeLessThan(199_100 + AHEAD_MS - 49)
  })

  test('goes on while our monotonic clock stands still, until the next answer', () => {
    const { clock, times, redisMs } = clockAfter([quick(100)])
    const before = redisMs()
    times.suspendedMs += 2_000
    expect(redisMs() - before).toBeGreaterThan(1_998)
    expect(clock.stalledMs).toBeGreaterThan(1_998)
    const sentMs = clock.nowMs()
    clock.note(Math.floor(before), sentMs)
    expect(redisMs()).toBeLessThan(before + 2)
  })

  test('takes no wall clock for stalled that is set back, or runs a little faster', () => {
    const { clock, times } = clockAfter([quick(0)])
    times.suspendedMs -= 50_000
    clock.nowMs()
    for (let second = 1; second < 200; second += 1) {
      times.monotonicAt = second * 1_000
      times.suspendedMs += 0.5
      clock.nowMs()
    }
    expect(clock.stalledMs).toBe(0)
  })
})

describe('the lead', () => {
  test('is none while answers come as quickly as they can, or nearly', () => {
    expect(clockAfter([quick(0), { sentMs: 10, ways: [1, 3.5] }]).clock.leadMs).toBe(0)
  })

  test('is longer than the latest of the last answers', () => {
    const late = { sentMs: 10, ways: [0.2, 100.3] as const }
    const { leadMs } = clockAfter([quick(0), late, quick(200)]).clock
    expect(leadMs).toBeGreaterThan(100)
    expect(leadMs).toBeLessThanOrEqual(130)
    expect(Number.isInteger(leadMs)).toBe(true)
    const after = (count: number) =>
      clockAfter([quick(0), late, ...Array.from({ length: count }, (_, i) => quick(200 + i))]).clock.leadMs
    expect([after(7) > 0, after(8)]).toEqual([true, 0])
  })

  test('is a second at most', () => {
    expect(clockAfter([quick(0), { sentMs: 10, ways: [0, 9_000] }]).clock.leadMs).toBe(1_000)
  })
})
