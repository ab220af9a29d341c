import { STATISTICS_POINTS_MAX, STATISTICS_STEP_SECONDS_MAX } from '../../domain/limits.ts'
import { statisticsRange, type StatisticsRange } from '../../domain/statistics/point.ts'
import { refusedAs } from '../fields/validation-texts.ts'
import { type QueryResult, readQuery, readTime } from './list-query.ts'

const PARAMETERS: ReadonlySet<string> = new Set(['since', 'step'])

/** The query of `GET /api/stats` and `GET /api/queues/{queue_id}/stats`. */
export function readStatisticsQuery(search: string, nowMs: number): QueryResult<StatisticsRange> {
  return readQuery(search, PARAMETERS, (query) => {
    const sinceMs = readTime(query, 'since')
    const stepSeconds = query.integer('step', 60, STATISTICS_STEP_SECONDS_MAX)
    const isWhole = stepSeconds === null || stepSeconds % 60 === 0
    if (!isWhole) query.refuse('step', (path) => refusedAs(path, 'must be a multiple of 60.'))
    const range = statisticsRange({ sinceMs, stepSeconds: isWhole ? stepSeconds : null }, nowMs)
    if (range !== null) return range
    query.refuse('step', (path) =>
      refusedAs(path, `must be longer for this range: it makes more than ${STATISTICS_POINTS_MAX} points.`),
    )
    return { sinceMs: nowMs, stepSeconds: 60, points: 0 }
  })
}
