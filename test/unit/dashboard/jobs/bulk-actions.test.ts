import { expect, test } from 'vitest'
import { rampedRate, rampedSeconds } from '../../../../dashboard/src/features/jobs/bulk/bulk-actions.ts'
import { rateOfPart } from '../../../../src/domain/bulk/bulk-pace.ts'

test('the ramp is that of the engine', () => {
  for (const rate of [1, 3, 10, 250]) {
    for (const doublings of [0, 1, 2, 3, 4, 5]) {
      expect(rampedRate(rate, doublings)).toBe(
        rateOfPart({ ratePerSecond: rate, runningMs: doublings * 10_000, parts: 1 }),
      )
    }
  }
})

test.each([
  [0, 10, 0],
  [1, 1, 1],
  [10, 10, 10],
  // 10 s each at 1, 2, 4 and 8 a second are 150 jobs.
  [150, 10, 40],
  [431, 10, 69],
])('%d jobs at %d a second take %d s', (count, rate, seconds) => {
  expect(rampedSeconds(count, rate)).toBe(seconds)
})
