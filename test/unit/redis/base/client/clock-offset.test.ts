import { describe, expect, test } from 'vitest'
import { ClockOffset } from '../../../../../src/redis/base/client/clock-offset.ts'

const AHEAD_MS = 5_000

/** Notes answers that were sent at these times of ours, and took as long as said. */
function learn(
  offset: ClockOffset,
  answers: ReadonlyArray<{ sentMs: number; tookMs: number; aheadMs?: number }>,
) {
  for (const { sentMs, tookMs, aheadMs = AHEAD_MS } of answers) {
    offset.note(Math.floor(sentMs + aheadMs), sentMs + tookMs)
  }
}

test('nothing is known before an answer', () => {
  expect(new ClockOffset().ms).toBe(null)
})

describe('the offset', () => {
  test('is that of the closest answer of late, and never ahead of Redis', () => {
    const offset = new ClockOffset()
    learn(offset, [
      { sentMs: 100.9, tookMs: 40 },
      { sentMs: 300, tookMs: 0.25 },
      { sentMs: 500.9, tookMs: 30 },
    ])
    expect(offset.ms).toBe(AHEAD_MS - 0.25)
  })

  test('outlives the second it was learnt in by one, and no more', () => {
    const offset = new ClockOffset()
    learn(offset, [
      { sentMs: 100, tookMs: 0 },
      { sentMs: 1_100, tookMs: 7 },
      { sentMs: 1_900, tookMs: 9 },
    ])
    expect(offset.ms).toBe(AHEAD_MS)
    learn(offset, [{ sentMs: 2_200, tookMs: 8 }])
    expect(offset.ms).toBe(AHEAD_MS - 7)
  })

  test('forgets what it learnt before a long silence', () => {
    const offset = new ClockOffset()
    learn(offset, [
      { sentMs: 100, tookMs: 0 },
      { sentMs: 60_000, tookMs: 30 },
    ])
    expect(offset.ms).toBe(AHEAD_MS - 30)
  })

  test('follows a clock that goes on at once', () => {
    const offset = new ClockOffset()
    learn(offset, [
      { sentMs: 100, tookMs: 0 },
      { sentMs: 200, tookMs: 0, aheadMs: AHEAD_MS + 300 },
    ])
    expect(offset.ms).toBe(AHEAD_MS + 300)
  })

  test('follows a clock that goes back far at once, and one that goes back a little after two seconds', () => {
    const offset = new ClockOffset()
    learn(offset, [{ sentMs: 100, tookMs: 0 }])
    learn(offset, [{ sentMs: 200, tookMs: 0, aheadMs: AHEAD_MS - 51 }])
    expect(offset.ms).toBe(AHEAD_MS - 51)
    learn(offset, [{ sentMs: 300, tookMs: 0, aheadMs: AHEAD_MS - 101 }])
    expect(offset.ms).toBe(AHEAD_MS - 51)
    for (const sentMs of [1_300, 2_400]) learn(offset, [{ sentMs, tookMs: 0, aheadMs: AHEAD_MS - 101 }])
    expect(offset.ms).toBe(AHEAD_MS - 101)
  })
})
