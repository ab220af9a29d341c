import { describe, expect, test } from 'vitest'
import type { StatisticsPoint } from '../../../clients/typescript/src/client.ts'
import { changeText, comparisonOf, noteOf } from '../../../dashboard/src/features/statistics/comparison.ts'
import { beforeLine, lineOf } from '../../../dashboard/src/features/statistics/lines.ts'
import { RANGES, sinceOf, spanBefore, stepText } from '../../../dashboard/src/features/statistics/ranges.ts'
import { failedShare, mostOf, summaryOf, sumOf } from '../../../dashboard/src/features/statistics/summary.ts'
import { keyed } from '../../../dashboard/src/ui/charts/span-choice.ts'

const BEGIN_MS = Date.UTC(2026, 10, 21, 10)
const MINUTE_MS = 60_000

function point(minute: number, change: Partial<StatisticsPoint> = {}): StatisticsPoint {
  return {
    at: new Date(BEGIN_MS + minute * MINUTE_MS).toISOString(),
    done: 0,
    failed: 0,
    retried: 0,
    dead: 0,
    latency_ms: null,
    lateness_ms: null,
    depth: 0,
    oldest_ready_seconds: null,
    startable: 0,
    stopped: 0,
    oldest_startable_seconds: null,
    oldest_queue_id: null,
    ...change,
  }
}

const late = (p99: number) => ({ lateness_ms: { p50: 1, p99 } })

describe('a summary', () => {
  test('is of the whole span, and its throughput of all points that are over', () => {
    const points = [
      point(0, { done: 60, ...late(20) }),
      point(1, { failed: 60 }),
      point(2, { done: 9, dead: 0 }),
    ]
    expect(summaryOf(points, 60)).toMatchObject({ ended: 129, failed: 60, perSecond: 1, latenessMs: 20 })
    expect(summaryOf(points.slice(2), 60)).toMatchObject({ ended: 9, perSecond: 0, latenessMs: null })
  })
})

describe('a comparison', () => {
  const hour = { before: 'hour before' }
  const before = [point(-2, { done: 9, failed: 1, dead: 1, ...late(340) }), point(-1)]

  test('is of as many points of both', () => {
    const points = [point(0, { done: 12, failed: 2 }), point(1), point(2, { done: 99, failed: 99 })]
    expect(comparisonOf(points, before, hour)).toEqual({
      ended: '+40 % on the hour before',
      succeeded: '+33 % on the hour before',
      failed: '1 in the hour before',
      dead: '1 in the hour before',
      failureRate: '10.0 % in the hour before',
      lateness: '≈ 340 ms in the hour before',
    })
  })

  test('says nothing where there is nothing to compare with', () => {
    for (const nothing of [null, []]) {
      expect(Object.values(comparisonOf([point(0)], nothing, hour))).toEqual(Array(6).fill(null))
    }
    expect(comparisonOf([point(0)], [point(-1)], hour)).toMatchObject({
      ended: null,
      failureRate: null,
      lateness: null,
    })
    expect([changeText(5, 0), changeText(3, 4), changeText(4, 4), changeText(5_000, 1)]).toEqual([
      null,
      '−25 %',
      '±0 %',
      '+499,900 %',
    ])
    expect(noteOf('In 1 hour', null)).toBe('In 1 hour')
    expect(noteOf('In 1 hour', '3 in the hour before')).toBe('In 1 hour · 3 in the hour before')
  })

  test('is not made with what is no longer kept', () => {
    const since = new Date(BEGIN_MS).toISOString()
    expect(RANGES.map((range) => spanBefore(range, since)?.since ?? null)).toEqual([
      '2026-11-21T09:00:00.000Z',
      '2026-11-20T10:00:00.000Z',
      null,
    ])
    expect(spanBefore(RANGES[0], since)?.until).toBe(since)
    expect(sinceOf(RANGES[0], BEGIN_MS + 1)).toBe('2026-11-21T09:00:00.000Z')
    expect([60, 600, 3_600].map(stepText)).toEqual(['minute', '10 min', '1 h'])
  })
})

describe('a line', () => {
  const all = [point(0, { done: 1, failed: 1 }), point(1, { done: 4 }), point(2, { failed: 8 })]
  const shown = all.slice(0, 2)

  test('says of the whole what the figures say, and of some points what they say together', () => {
    const done = lineOf({ shown, all, valueOf: failedShare })
    expect(done.values).toEqual([0.5, 0])
    expect(done.over()).toBe(9 / 14)
    expect(done.over(0, 2)).toBe(1 / 6)
    expect(done.over(1, 2)).toBe(0)
  })

  test('of the span before stands under the times that lie its length after it', () => {
    const before = [point(-60, { done: 7 }), point(-58, { done: 3 })]
    const shiftMs = 60 * MINUTE_MS
    const line = beforeLine(before, { shown: all, shiftMs, valueOf: sumOf(({ done }) => done) })
    expect(line.values).toEqual([7, null, 3])
    expect([line.over(), line.over(1, 3), line.over(1, 2)]).toEqual([10, 3, null])
  })

  test('that shows the most of something has a gap where nothing was measured', () => {
    const worst = mostOf(({ lateness_ms: quantiles }) => quantiles?.p99 ?? null)
    expect([worst([]), worst([point(0)]), worst([point(0, late(3)), point(1, late(9)), point(2)])]).toEqual([
      null,
      null,
      9,
    ])
  })
})

describe('keys on a chart', () => {
  const key = (name: string, chosen: { anchor: number; head: number } | null, shiftKey = false) =>
    keyed({ key: name, shiftKey }, chosen, 5)

  test('choose a point, from the last one on', () => {
    expect(key('ArrowLeft', null)).toEqual({ anchor: 4, head: 4 })
    expect(key('ArrowLeft', { anchor: 4, head: 4 })).toEqual({ anchor: 3, head: 3 })
    expect(key('ArrowRight', { anchor: 4, head: 4 })).toEqual({ anchor: 4, head: 4 })
    expect(key('ArrowLeft', { anchor: 0, head: 0 })).toEqual({ anchor: 0, head: 0 })
    expect(key('Home', null)).toEqual({ anchor: 0, head: 0 })
    expect(key('End', { anchor: 1, head: 2 })).toEqual({ anchor: 4, head: 4 })
  })

  test('choose a span with Shift, and mean nothing else', () => {
    expect(key('ArrowLeft', { anchor: 3, head: 3 }, true)).toEqual({ anchor: 3, head: 2 })
    expect(key('Home', { anchor: 3, head: 2 }, true)).toEqual({ anchor: 3, head: 0 })
    expect(key('ArrowLeft', null, true)).toEqual({ anchor: 4, head: 4 })
    expect(key('a', null)).toBeNull()
    expect(keyed({ key: 'Home', shiftKey: false }, null, 0)).toBeNull()
  })
})
