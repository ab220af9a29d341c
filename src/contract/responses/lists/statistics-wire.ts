import type { SlicedWork } from '../../../domain/shares/cost-gate.ts'
import {
  type StatisticsPoint,
  statisticsPoints,
  type StatisticsRange,
} from '../../../domain/statistics/point.ts'
import type { Tally } from '../../../domain/statistics/tally.ts'
import { formatTimestamp } from '../../../domain/timestamp.ts'
import { writeList } from './json-list.ts'
import type { Statistics, StatisticsPoint as WirePoint } from '../../generated/wire.ts'

/** The JSON text. @param minutes by minutes since 1970 */
export function* writeStatistics(
  range: StatisticsRange,
  minutes: ReadonlyMap<number, Tally>,
): SlicedWork<string> {
  const rest: Omit<Statistics, 'points'> = {
    since: formatTimestamp(range.sinceMs),
    step: range.stepSeconds,
  }
  const rows = yield* statisticsPoints(range, minutes)
  return yield* writeList({ field: 'points', rows, toWire: toWirePoint, rest })
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
