import type { SlicedWork } from '../shares/cost-gate.ts'
import { quantile } from './histogram.ts'
import type { StatisticsRange } from './range.ts'
import { addTally, emptyTally, type Tally } from './tally.ts'

export const MINUTE_MS = 60_000

/** Counts of the step that begins at `atMs`. */
export interface StatisticsPoint {
  readonly atMs: number
  readonly done: number
  /** All failed jobs, with those that are retried and those that became dead letters. */
  readonly failed: number
  readonly retried: number
  readonly dead: number
  /** null when no call ended. */
  readonly latencyMs: { readonly p50: number; readonly p95: number; readonly p99: number } | null
  readonly latenessMs: { readonly p50: number; readonly p99: number } | null
  /** The most of all minutes. */
  readonly depth: number
  /** null when no job was ready. */
  readonly oldestReadySeconds: number | null
  /** The most ready jobs that nothing but a free slot of an executor kept from starting. */
  readonly startable: number
  /** The most ready jobs that something else kept. */
  readonly stopped: number
  /** null when no job could start. */
  readonly oldestStartable: { readonly seconds: number; readonly queueId: number | null } | null
}

/** Every point of the range, in order, also those in which nothing happened. @param minutes by minutes since 1970 */
export function* statisticsPoints(
  { sinceMs, stepSeconds, points }: StatisticsRange,
  minutes: ReadonlyMap<number, Tally>,
): SlicedWork<StatisticsPoint[]> {
  const stepMs = stepSeconds * 1000
  const sums = Array.from({ length: points }, emptyTally)
  for (const [minute, tally] of minutes) {
    const sum = sums[Math.floor((minute * MINUTE_MS - sinceMs) / stepMs)]
    if (sum !== undefined) addTally(sum, tally, 'max')
    yield
  }
  const found: StatisticsPoint[] = []
  for (const [i, sum] of sums.entries()) {
    found.push(toPoint(sinceMs + i * stepMs, sum))
    yield
  }
  return found
}

function toPoint(atMs: number, sum: Tally): StatisticsPoint {
  const { done, failed, retried, dead, depth, startable, stopped } = sum
  const latencyMs = (share: number) => quantile(sum.latency, share, sum.longestLatencyMs)
  const latenessMs = (share: number) => quantile(sum.lateness, share, sum.longestLatenessMs)
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map(latencyMs) as [Q, Q, Q]
  const [late50, late99] = [0.5, 0.99].map(latenessMs) as [Q, Q]
  return {
    atMs,
    done,
    failed: failed + retried + dead,
    retried,
    dead,
    latencyMs: p50 === null || p95 === null || p99 === null ? null : { p50, p95, p99 },
    latenessMs: late50 === null || late99 === null ? null : { p50: late50, p99: late99 },
    depth,
    oldestReadySeconds: depth === 0 ? null : sum.oldestReadySeconds,
    startable,
    stopped,
    oldestStartable:
      startable === 0 ? null : { seconds: sum.oldestStartableSeconds, queueId: sum.oldestQueue || null },
  }
}

type Q = number | null
