import {
  type StatisticsPoint,
  statisticsPoints,
  type StatisticsRange,
} from '../../domain/statistics/point.ts'
import type { Tally } from '../../domain/statistics/tally.ts'
import { formatTimestamp } from '../../domain/timestamp.ts'
import type { Statistics, StatisticsPoint as WirePoint } from '../generated/wire.ts'

/** @param minutes by minutes since 1970 */
export function toWireStatistics(range: StatisticsRange, minutes: ReadonlyMap<number, Tally>): Statistics {
  return {
    since: formatTimestamp(range.sinceMs),
    step: range.stepSeconds,
    points: statisticsPoints(range, minutes).map(toWirePoint),
  }
}

function toWirePoint(point: StatisticsPoint): WirePoint {
  const { done, failed, retried, dead, depth } = point
  return {
    at: formatTimestamp(point.atMs),
    ...{ done, failed, retried, dead },
    latency_ms: point.latencyMs,
    lateness_ms: point.latenessMs,
    ...{ depth, oldest_ready_seconds: point.oldestReadySeconds },
  }
}
