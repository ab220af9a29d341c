import { STATISTICS_DAYS, STATISTICS_POINTS_MAX, STATISTICS_STEP_SECONDS_MAX } from '../../domain/limits.ts'
import {
  keptPart,
  rangeBefore,
  type RangeFault,
  statisticsRange,
  type StatisticsRange,
  type StatisticsRequest,
} from '../../domain/statistics/range.ts'
import { refusedAs } from '../fields/validation-texts.ts'
import { type QueryResult, readQuery, readTime } from './list-query.ts'

const PARAMETERS: ReadonlySet<string> = new Set(['since', 'until', 'step', 'compare'])
const COMPARED = ['previous'] as const

/** Which field a fault of the range is told of, and how. */
const FAULTS: Readonly<Record<RangeFault, readonly [field: string, predicate: string]>> = {
  ends_before_begin: ['until', 'must be after since.'],
  no_longer_kept: [
    'until',
    `must be within the last ${STATISTICS_DAYS} days, for which statistics are kept.`,
  ],
  too_many_points: [
    'step',
    `must be longer for this range: it makes more than ${STATISTICS_POINTS_MAX} points.`,
  ],
}
const NO_RANGE: StatisticsRange = { sinceMs: 0, stepSeconds: 60, points: 0, wholePoints: 0 }

/** The query of `GET /api/stats` and `GET /api/queues/{queue_id}/stats`. */
export function readStatisticsQuery(search: string, nowMs: number): QueryResult<StatisticsRequest> {
  return readQuery(search, { known: PARAMETERS, nowMs }, (query) => {
    const sinceMs = readTime(query, 'since')
    const untilMs = readTime(query, 'until')
    const stepSeconds = query.integer('step', 60, STATISTICS_STEP_SECONDS_MAX)
    const isWhole = stepSeconds === null || stepSeconds % 60 === 0
    if (!isWhole) query.refuse('step', (path) => refusedAs(path, 'must be a multiple of 60.'))
    const isCompared = query.choice('compare', COMPARED) !== null
    const found = statisticsRange({ sinceMs, untilMs, stepSeconds: isWhole ? stepSeconds : null }, nowMs)
    if (typeof found === 'string') {
      const [field, predicate] = FAULTS[found]
      query.refuse(field, (path) => refusedAs(path, predicate))
      return { range: NO_RANGE, before: null }
    }
    const before = rangeBefore(found)
    const kept = keptPart(before, nowMs)
    return { range: found, before: isCompared ? { sinceMs: before.sinceMs, kept } : null }
  })
}
