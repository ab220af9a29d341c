import { describe, expect, test } from 'vitest'
import { meanOf, percentile, spreadOf, steadyRate } from '../../../../bench/report/statistics.ts'

describe('spread', () => {
  test('of an odd and an even number of runs, in any order', () => {
    expect(spreadOf([3, 1, 2])).toEqual({ median: 2, min: 1, max: 3 })
    expect(spreadOf([4, 1, 3, 2])).toEqual({ median: 2.5, min: 1, max: 4 })
    expect(spreadOf([10, 9])).toEqual({ median: 9.5, min: 9, max: 10 })
    expect(spreadOf([7])).toEqual({ median: 7, min: 7, max: 7 })
  })

  test('sorts by number and leaves its input alone', () => {
    const values = [100, 20, 3]
    expect(spreadOf(values).median).toBe(20)
    expect(values).toEqual([100, 20, 3])
  })

  test('refuses nothing at all, and what is no number', () => {
    expect(() => spreadOf([])).toThrow(RangeError)
    expect(() => spreadOf([1, Number.NaN])).toThrow(RangeError)
    expect(() => percentile([Number.POSITIVE_INFINITY], 0.5)).toThrow(RangeError)
  })
})

test('a mean comes with its standard error', () => {
  expect(meanOf([2, 4, 6])).toEqual({ mean: 4, error: Math.sqrt(4 / 3) })
  expect(meanOf([5, 5])).toEqual({ mean: 5, error: 0 })
})

test('a percentile is one of the values, by nearest rank', () => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index)
  expect(percentile(values, 0.5)).toBe(50)
  expect(percentile(values, 0.99)).toBe(99)
  expect(percentile(values, 1)).toBe(100)
  expect(percentile(values, 0)).toBe(1)
  expect(percentile([5], 0.99)).toBe(5)
})

describe('steady rate', () => {
  test('leaves out a slow start and a slow end', () => {
    const samples = [
      { atMs: 0, count: 0 },
      { atMs: 5_000, count: 0 },
      { atMs: 6_000, count: 200 },
      { atMs: 7_000, count: 550 },
      { atMs: 8_000, count: 900 },
      { atMs: 20_000, count: 1_000 },
    ]
    expect(steadyRate(samples, { from: 0.2, to: 0.9 })).toBe(350)
  })

  test('counts from the first sample on', () => {
    const samples = [
      { atMs: 0, count: 1_000 },
      { atMs: 1_000, count: 1_100 },
    ]
    expect(steadyRate(samples, { from: 0, to: 1 })).toBe(100)
  })

  test('says nothing from too few samples', () => {
    expect(steadyRate([], { from: 0, to: 1 })).toBeNull()
    expect(steadyRate([{ atMs: 0, count: 5 }], { from: 0, to: 1 })).toBeNull()
  })
})
