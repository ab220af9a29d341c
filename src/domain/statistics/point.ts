import type { SlicedWork } from '../shares/cost-gate.ts'
import { STATISTICS_DAYS, STATISTICS_POINTS_MAX } from '../limits.ts'
import { quantile } from './histogram.ts'
import { addTally, emptyTally, type Tally } from './tally.ts'

export const MINUTE_MS = 60_000
const KEPT_MS = STATISTICS_DAYS * 86_400_000
const RANGE_DEFAULT_MS = 3_600_000
/** Points of an answer whose step was not asked for. */
const POINTS_WANTED_MAX = 200
const STEPS_SECONDS = [60, 300, 900] as const
const STEP_SECONDS_LONGEST = 3_600

/** Which minutes are asked for, and how many of them make a point. */
export interface StatisticsRange {
  /** Begin of the first point: a multiple of the step, Unix ms. */
  readonly sinceMs: number
  readonly stepSeconds: number
  readonly points: number
}

/** What happened in the step that begins at `atMs`. */
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
}

/**
 * @param asked.sinceMs null = an hour ago; what is no longer kept is left out
 * @param asked.stepSeconds whole minutes; null = by the length of the range
 * @returns null when these would be too many points
 */
export function statisticsRange(
  asked: { readonly sinceMs: number | null; readonly stepSeconds: number | null },
  nowMs: number,
): StatisticsRange | null {
  const fromMs = Math.max(nowMs - KEPT_MS, Math.min(asked.sinceMs ?? nowMs - RANGE_DEFAULT_MS, nowMs))
  const fits = (seconds: number) => pointsOf(fromMs, nowMs, seconds) <= POINTS_WANTED_MAX
  const stepSeconds = asked.stepSeconds ?? STEPS_SECONDS.find(fits) ?? STEP_SECONDS_LONGEST
  const points = pointsOf(fromMs, nowMs, stepSeconds)
  const stepMs = stepSeconds * 1000
  if (points > STATISTICS_POINTS_MAX) return null
  return { sinceMs: Math.floor(fromMs / stepMs) * stepMs, stepSeconds, points }
}

function pointsOf(fromMs: number, nowMs: number, stepSeconds: number): number {
  const stepMs = stepSeconds * 1000
  return Math.floor(nowMs / stepMs) - Math.floor(fromMs / stepMs) + 1
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
  const { done, failed, retried, dead, latency, lateness, depth, oldestReadySeconds } = sum
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => quantile(latency, share)) as [Q, Q, Q]
  const [late50, late99] = [0.5, 0.99].map((share) => quantile(lateness, share)) as [Q, Q]
  return {
    ...{ atMs, done, failed: failed + retried + dead, retried, dead },
    latencyMs: p50 === null || p95 === null || p99 === null ? null : { p50, p95, p99 },
    latenessMs: late50 === null || late99 === null ? null : { p50: late50, p99: late99 },
    ...{ depth, oldestReadySeconds: depth === 0 ? null : oldestReadySeconds },
  }
}

type Q = number | null
