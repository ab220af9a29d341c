import type { SlicedWork } from '../../../domain/shares/cost-gate.ts'
import { type StatisticsPoint, statisticsPoints } from '../../../domain/statistics/point.ts'
import type { StatisticsRequest } from '../../../domain/statistics/range.ts'
import type { Tally } from '../../../domain/statistics/tally.ts'
import { formatTimestamp } from '../../../domain/timestamp.ts'
import { writeList } from './json-list.ts'
import type {
  Statistics,
  StatisticsPoint as WirePoint,
} from '../../../../clients/typescript/src/generated/wire.ts'

/** The JSON text. @param minutes by minutes since 1970 */
export function* writeStatistics(
  { range, before }: StatisticsRequest,
  minutes: ReadonlyMap<number, Tally>,
): SlicedWork<string> {
  const { sinceMs, stepSeconds } = range
  const previous = before === null ? undefined : yield* previousOf(before, minutes)
  const rest: Omit<Statistics, 'points'> = {
    since: formatTimestamp(sinceMs),
    step: stepSeconds,
    ...(previous !== undefined && { previous }),
  }
  const rows = yield* statisticsPoints(range, minutes)
  return yield* writeList({ field: 'points', rows, toWire: toWirePoint, rest })
}

function* previousOf(
  { sinceMs, kept }: NonNullable<StatisticsRequest['before']>,
  minutes: ReadonlyMap<number, Tally>,
): SlicedWork<NonNullable<Statistics['previous']>> {
  const points: WirePoint[] = []
  for (const point of yield* statisticsPoints(kept, minutes)) {
    points.push(toWirePoint(point))
    yield
  }
  return { since: formatTimestamp(sinceMs), points }
}

function toWirePoint(point: StatisticsPoint): WirePoint {
  const { done, failed, retried, dead, depth, startable, stopped, oldestStartable } = point
  return {
    at: formatTimestamp(point.atMs),
    done,
    failed,
    retried,
    dead,
    latency_ms: point.latencyMs,
    lateness_ms: point.latenessMs,
    depth,
    oldest_ready_seconds: point.oldestReadySeconds,
    startable,
    stopped,
    oldest_startable_seconds: oldestStartable?.seconds ?? null,
    oldest_queue_id: oldestStartable?.queueId ?? null,
  }
}
