import { describe, expect, test } from 'vitest'
import {
  keptPart,
  rangeBefore,
  statisticsRange,
  type StatisticsRange,
} from '../../../../src/domain/statistics/range.ts'

const NOW_MS = Date.UTC(2026, 10, 21, 10, 5, 30)
const DAY_MS = 86_400_000
const at = (hour: number, minute: number, second = 0) => Date.UTC(2026, 10, 21, hour, minute, second)

function rangeOf(sinceMs: number | null, untilMs: number | null, stepSeconds: number | null = 60) {
  return statisticsRange({ sinceMs, untilMs, stepSeconds }, NOW_MS)
}

function known(range: ReturnType<typeof statisticsRange>): StatisticsRange {
  if (typeof range === 'string') throw new Error(range)
  return range
}

describe('a range of statistics with an end', () => {
  test('has the points that begin before its end, and all of them are over', () => {
    expect(rangeOf(at(9, 0), at(9, 5))).toEqual({
      sinceMs: at(9, 0),
      stepSeconds: 60,
      points: 5,
      wholePoints: 5,
    })
    expect(rangeOf(at(9, 0), at(9, 4, 1))).toMatchObject({ points: 5, wholePoints: 5 })
    expect(rangeOf(at(9, 0, 59), at(9, 1))).toMatchObject({ sinceMs: at(9, 0), points: 1 })
  })

  test('begins an hour before its end unless something else is asked for', () => {
    expect(rangeOf(null, at(8, 0))).toMatchObject({ sinceMs: at(7, 0), points: 60 })
  })

  test('ends now if its end is to come, with a point that is not over', () => {
    for (const until of [null, NOW_MS + 1, NOW_MS + DAY_MS]) {
      expect(rangeOf(at(10, 0), until)).toMatchObject({ points: 6, wholePoints: 5 })
    }
    expect(rangeOf(at(10, 0), at(10, 5))).toMatchObject({ points: 5, wholePoints: 5 })
    expect(rangeOf(at(10, 5), null)).toMatchObject({ points: 1, wholePoints: 0 })
  })

  test('gets its step from its own length', () => {
    const since = NOW_MS - 6 * DAY_MS
    expect(rangeOf(since, since + 3_600_000, null)).toMatchObject({ stepSeconds: 60 })
    expect(rangeOf(since, since + DAY_MS, null)).toMatchObject({ stepSeconds: 900 })
  })

  test('is none when it ends before it begins, or before all that is kept', () => {
    expect(rangeOf(at(9, 0), at(9, 0))).toBe('ends_before_begin')
    expect(rangeOf(at(9, 0), at(9, 0) + 1)).toMatchObject({ points: 1 })
    expect(rangeOf(at(9, 0), at(8, 0))).toBe('ends_before_begin')
    expect(rangeOf(null, NOW_MS - 7 * DAY_MS)).toBe('no_longer_kept')
    expect(rangeOf(null, NOW_MS - 7 * DAY_MS + 1)).toMatchObject({ points: 1 })
    expect(rangeOf(at(0, 0) - 2 * DAY_MS, at(0, 0))).toBe('too_many_points')
  })
})

describe('the span before a range', () => {
  test('has a point for each that is over, and ends where the range begins', () => {
    expect(rangeBefore(known(rangeOf(at(9, 0), at(9, 5))))).toMatchObject({ sinceMs: at(8, 55), points: 5 })
    expect(rangeBefore(known(rangeOf(at(10, 0), null)))).toMatchObject({ sinceMs: at(9, 55), points: 5 })
    expect(rangeBefore(known(rangeOf(at(10, 5), null)))).toMatchObject({ sinceMs: at(10, 5), points: 0 })
  })

  test('has only the points of it that are still kept', () => {
    const hours = (count: number) => rangeOf(NOW_MS - count * 3_600_000, null, 3_600)
    const keptOf = (count: number) => keptPart(rangeBefore(known(hours(count))), NOW_MS)
    expect(keptOf(83)).toMatchObject({ points: 83, wholePoints: 83 })
    // The first of them would begin five minutes before what is kept.
    expect(keptOf(84)).toMatchObject({ points: 83, wholePoints: 83 })
    expect(keptOf(100)).toMatchObject({ sinceMs: Date.UTC(2026, 10, 14, 11), points: 67, wholePoints: 67 })
    expect(keptOf(168)).toMatchObject({ points: 0 })
  })
})
