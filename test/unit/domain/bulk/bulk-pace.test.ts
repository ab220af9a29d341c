import { expect, test } from 'vitest'
import { pageSizeAt, rateOfPart } from '../../../../src/domain/bulk/bulk-pace.ts'

const rates = (ratePerSecond: number, parts: number) =>
  [0, 9_999, 10_000, 20_000, 30_000, 40_000, 1e9].map((runningMs) =>
    rateOfPart({ ratePerSecond, runningMs, parts }),
  )

test('a rate begins with a tenth and doubles every ten seconds, shared by the parts', () => {
  expect(rates(1_000, 1)).toEqual([100, 100, 200, 400, 800, 1_000, 1_000])
  expect(rates(1_000, 4)).toEqual([25, 25, 50, 100, 200, 250, 250])
})

test('a rate of one job a second has no ramp, and a low one is not below that', () => {
  expect(rates(1, 1)).toEqual([1, 1, 1, 1, 1, 1, 1])
  expect(rates(4, 2)).toEqual([0.5, 0.5, 0.5, 0.8, 1.6, 2, 2])
})

test('a part that is said to run before it began, and one without others, have a rate', () => {
  expect(rateOfPart({ ratePerSecond: 100, runningMs: -5, parts: 0 })).toBe(10)
})

test('a page holds the jobs of a second at most, and at least one', () => {
  expect([0.1, 1, 7.9, 99.9, 5_000].map((rate) => pageSizeAt(rate, 100))).toEqual([1, 1, 7, 99, 100])
})
