import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bucketOf, countIn, type Histogram, quantile } from '../../../../src/domain/statistics/histogram.ts'
import { atOnce } from '../../../../src/domain/shares/cost-gate.ts'
import { statisticsPoints } from '../../../../src/domain/statistics/point.ts'
import { statisticsRange } from '../../../../src/domain/statistics/range.ts'
import { addTally, emptyTally, type Tally } from '../../../../src/domain/statistics/tally.ts'

const NOW_MS = Date.UTC(2026, 10, 21, 10, 5, 30)
const MINUTE = Math.floor(NOW_MS / 60_000)

describe('a histogram', () => {
  test('answers quantiles within a factor of √2 of the true ones', () => {
    const durations = fc.array(fc.double({ min: 1, max: 1e9, noNaN: true }), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(durations, fc.constantFrom(0.01, 0.5, 0.95, 0.99, 1), (all, share) => {
        const histogram: Histogram = []
        for (const ms of all) countIn(histogram, bucketOf(ms))
        const sorted = all.toSorted((a, b) => a - b)
        const truth = sorted[Math.ceil(all.length * share) - 1] ?? Number.NaN
        const ratio = (quantile(histogram, share) ?? Number.NaN) / truth
        // Shown with four digits.
        expect(Math.max(ratio, 1 / ratio)).toBeLessThan(Math.SQRT2 * 1.0005)
      }),
      { numRuns: 200 },
    )
  })

  test('counts what is below a millisecond, early or no number at all as 0', () => {
    expect([0, 0.99, -5, Number.NaN].map(bucketOf)).toEqual([0, 0, 0, 0])
    expect([1, 1.99, 2, 3, 4, 2 ** 31, 1e15].map(bucketOf)).toEqual([1, 1, 2, 2, 3, 31, 31])
    expect(quantile([7], 0.99)).toBe(0)
    expect(quantile([], 0.5)).toBeNull()
  })
})

describe('points', () => {
  const range = (sinceMs: number | null, stepSeconds: number | null) => {
    const found = statisticsRange({ sinceMs, untilMs: null, stepSeconds }, NOW_MS)
    return typeof found === 'string' ? null : found
  }

  test('are 61 minutes unless something else is asked for', () => {
    expect(range(null, null)).toEqual({
      sinceMs: (MINUTE - 60) * 60_000,
      stepSeconds: 60,
      points: 61,
      wholePoints: 60,
    })
  })

  test('get longer with the range, and never too many', () => {
    const hoursAgo = (hours: number) => range(NOW_MS - hours * 3_600_000, null)
    expect([3, 6, 24, 168, 5_000].map((hours) => hoursAgo(hours)?.stepSeconds)).toEqual([
      60, 300, 900, 3600, 3600,
    ])
    expect(hoursAgo(5_000)?.points).toBe(169)
    expect(range(NOW_MS - 1_500 * 60_000, 60)).toBeNull()
    expect(range(NOW_MS - 1_499 * 60_000, 60)?.points).toBe(1_500)
    expect(range(NOW_MS + 1e9, 60)?.points).toBe(1)
  })

  test('sum up jobs, and show the highest depth', () => {
    const some = (change: Partial<Tally>): Tally => ({ ...emptyTally(), ...change })
    const minutes = new Map([
      [MINUTE - 61, some({ done: 99 })],
      [
        MINUTE - 5,
        some({
          done: 1,
          failed: 2,
          retried: 3,
          dead: 4,
          depth: 5,
          oldestReadySeconds: 8,
          startable: 5,
          oldestStartableSeconds: 8,
          oldestQueue: 12,
        }),
      ],
      [
        MINUTE - 4,
        some({
          done: 1,
          depth: 3,
          oldestReadySeconds: 9,
          startable: 1,
          stopped: 2,
          oldestStartableSeconds: 1,
          oldestQueue: 13,
          latency: [0, 0, 1],
          lateness: [1],
        }),
      ],
    ])
    const asked = range(NOW_MS - 3_600_000, 3_600)
    expect(asked && atOnce(statisticsPoints(asked, minutes))).toEqual([
      {
        atMs: Date.UTC(2026, 10, 21, 9),
        done: 99,
        failed: 0,
        retried: 0,
        dead: 0,
        latencyMs: null,
        latenessMs: null,
        depth: 0,
        oldestReadySeconds: null,
        startable: 0,
        stopped: 0,
        oldestStartable: null,
      },
      {
        atMs: Date.UTC(2026, 10, 21, 10),
        done: 2,
        failed: 9,
        retried: 3,
        dead: 4,
        latencyMs: { p50: 2.828, p95: 2.828, p99: 2.828 },
        latenessMs: { p50: 0, p99: 0 },
        depth: 5,
        oldestReadySeconds: 9,
        startable: 5,
        stopped: 2,
        oldestStartable: { seconds: 8, queueId: 12 },
      },
    ])
  })

  test('of several shards add their depths, and keep the oldest job with its queue', () => {
    const some = (change: Partial<Tally>): Tally => ({ ...emptyTally(), ...change })
    const sum = some({ depth: 2, oldestReadySeconds: 1, startable: 2 })
    addTally(sum, some({ depth: 3, oldestReadySeconds: 7, startable: 1, stopped: 2, oldestQueue: 5 }), 'sum')
    expect(sum).toMatchObject({ depth: 5, oldestReadySeconds: 7, startable: 3, stopped: 2, oldestQueue: 5 })
    addTally(sum, some({ startable: 1, oldestStartableSeconds: 4, oldestQueue: 6 }), 'sum')
    addTally(sum, some({ startable: 1, oldestStartableSeconds: 3, oldestQueue: 7 }), 'sum')
    expect(sum).toMatchObject({ oldestStartableSeconds: 4, oldestQueue: 6 })
  })

  test('show no quantile above the longest call, in whatever order minutes come', () => {
    // 280 s and 300 s fall into the bucket from 262 s, which has its middle at 371 s.
    const bucket = bucketOf(280_000)
    const of = (longestLatencyMs: number): Tally => {
      const latency: Histogram = []
      countIn(latency, longestLatencyMs === 0 ? 3 : bucket)
      return { ...emptyTally(), done: 1, latency, longestLatencyMs }
    }
    for (const longest of [
      [280_000, 0],
      [0, 280_000],
      [270_000, 280_000],
      [280_000, 0, 270_000],
    ]) {
      const sum = emptyTally()
      for (const ms of longest) addTally(sum, of(ms), 'max')
      expect(quantile(sum.latency, 0.99, sum.longestLatencyMs)).toBe(280_000)
    }
    const latency: Histogram = []
    countIn(latency, bucket)
    const unknown = { ...emptyTally(), latency }
    addTally(unknown, of(280_000), 'max')
    // One of them may have been longer than what is known of the other.
    expect(quantile(unknown.latency, 0.99, unknown.longestLatencyMs)).toBe(370_700)
  })
})
