import { STATISTICS_DAYS, STATISTICS_POINTS_MAX } from '../limits.ts'

const KEPT_MS = STATISTICS_DAYS * 86_400_000
const RANGE_DEFAULT_MS = 3_600_000
/** Points of an answer whose step was not asked for. */
const POINTS_WANTED_MAX = 200
const STEPS_SECONDS = [60, 300, 900] as const
const STEP_SECONDS_LONGEST = 3_600

/** The minutes asked for, and how many of them make a point. */
export interface StatisticsRange {
  /** Begin of the first point: a multiple of the step, Unix ms. */
  readonly sinceMs: number
  readonly stepSeconds: number
  readonly points: number
  /** How many of the points, from the first on, are over. */
  readonly wholePoints: number
}

/** What an answer is about. */
export interface StatisticsRequest {
  readonly range: StatisticsRange
  /** The span before it, and the part of that which is still kept; null = not asked for. */
  readonly before: { readonly sinceMs: number; readonly kept: StatisticsRange } | null
}

/** Why there is no range: `until` is not after `since`, is before all that is kept, or the points would be too many. */
export type RangeFault = 'ends_before_begin' | 'no_longer_kept' | 'too_many_points'

interface AskedRange {
  /** null = an hour before its end; what is no longer kept is left out. */
  readonly sinceMs: number | null
  /** null = now, as for a time to come. */
  readonly untilMs: number | null
  /** Whole minutes; null = by the length of the range. */
  readonly stepSeconds: number | null
}

/** Rounds what was asked for to whole steps: the first point contains its begin, the last one what is before its end. */
export function statisticsRange(asked: AskedRange, nowMs: number): StatisticsRange | RangeFault {
  const { untilMs, stepSeconds: wanted } = asked
  const keptMs = keptSince(nowMs)
  if (untilMs !== null && asked.sinceMs !== null && untilMs <= asked.sinceMs) return 'ends_before_begin'
  if (untilMs !== null && untilMs <= keptMs) return 'no_longer_kept'
  // The point that has just begun belongs to a range that ends now.
  const lastMs = untilMs === null || untilMs > nowMs ? nowMs : untilMs - 1
  const sinceMs = asked.sinceMs ?? (untilMs ?? nowMs) - RANGE_DEFAULT_MS
  const fromMs = Math.max(keptMs, Math.min(sinceMs, lastMs))
  const fits = (seconds: number) => pointsOf(fromMs, lastMs, seconds) <= POINTS_WANTED_MAX
  const stepSeconds = wanted ?? STEPS_SECONDS.find(fits) ?? STEP_SECONDS_LONGEST
  const points = pointsOf(fromMs, lastMs, stepSeconds)
  if (points > STATISTICS_POINTS_MAX) return 'too_many_points'
  const stepMs = stepSeconds * 1000
  const first = Math.floor(fromMs / stepMs)
  const wholePoints = Math.min(points, Math.floor(nowMs / stepMs) - first)
  return { sinceMs: first * stepMs, stepSeconds, points, wholePoints }
}

/** The span before a range: a step for each of its points that is over. */
export function rangeBefore({ sinceMs, stepSeconds, wholePoints }: StatisticsRange): StatisticsRange {
  const beforeMs = sinceMs - wholePoints * stepSeconds * 1000
  return { sinceMs: beforeMs, stepSeconds, points: wholePoints, wholePoints }
}

/** Leaves out the points that begin before what is still kept. */
export function keptPart(range: StatisticsRange, nowMs: number): StatisticsRange {
  const stepMs = range.stepSeconds * 1000
  const lost = Math.ceil((keptSince(nowMs) - range.sinceMs) / stepMs)
  const left = Math.min(range.points, Math.max(0, lost))
  const points = range.points - left
  return { ...range, sinceMs: range.sinceMs + left * stepMs, points, wholePoints: points }
}

function keptSince(nowMs: number): number {
  return nowMs - KEPT_MS
}

function pointsOf(fromMs: number, lastMs: number, stepSeconds: number): number {
  const stepMs = stepSeconds * 1000
  return Math.floor(lastMs / stepMs) - Math.floor(fromMs / stepMs) + 1
}
