import type { StatisticsPoint } from '../../../../clients/typescript/src/client.ts'

type Points = readonly StatisticsPoint[]

/** Adds up what `of` says of points. */
export function sumOf(of: (point: StatisticsPoint) => number): (points: Points) => number {
  return (points) => points.reduce((sum, point) => sum + of(point), 0)
}

/** The highest of what `of` says of points; null when it says nothing of any. */
export function mostOf(of: (point: StatisticsPoint) => number | null): (points: Points) => number | null {
  return (points) => {
    const known = points.map(of).filter((value) => value !== null)
    return known.length === 0 ? null : Math.max(...known)
  }
}

/** The part of the jobs that ended which failed; null when none ended. */
export function failedShare(points: Points): number | null {
  const { ended, failed } = countsOf(points)
  return ended === 0 ? null : failed / ended
}

export interface Summary {
  /** Jobs that ended. */
  readonly ended: number
  readonly failed: number
  readonly dead: number
  /** Jobs that ended a second, over all points that are over. */
  readonly perSecond: number
  /** The worst of all points; null without calls. */
  readonly latenessMs: number | null
  /** The last value that was counted; null when no job could start. */
  readonly oldestStartableSeconds: number | null
}

/** @param step seconds of a point, of which the last is not over */
export function summaryOf(points: Points, step: number): Summary {
  const [before, last] = points.slice(-2)
  const whole = points.slice(0, -1)
  return {
    ...countsOf(points),
    perSecond: whole.length === 0 ? 0 : countsOf(whole).ended / (whole.length * step),
    latenessMs: worstLateness(points),
    // The minute that has just begun may not be counted yet.
    oldestStartableSeconds: last?.oldest_startable_seconds ?? before?.oldest_startable_seconds ?? null,
  }
}

/** The highest p99 of all points, in ms; null without calls. */
export const worstLateness = mostOf(({ lateness_ms: quantiles }) => quantiles?.p99 ?? null)

/** How many jobs ended, and how. */
export function countsOf(points: Points): Pick<Summary, 'ended' | 'failed' | 'dead'> {
  return {
    ended: sumOf(({ done, failed }) => done + failed)(points),
    failed: sumOf(({ failed }) => failed)(points),
    dead: sumOf(({ dead }) => dead)(points),
  }
}

/** A startable job that waits so long is worth a look, and so long a fault. */
const LATE_SECONDS = 10
const TOO_LATE_SECONDS = 60

/** A part of failed jobs above which something is at fault. */
const TOO_MANY_FAILED = 0.05

/** What it means that so many of the jobs that ended have failed. */
export function toneOfFailed(failed: number, ended: number): 'good' | 'warn' | 'bad' {
  if (failed === 0) return 'good'
  return failed / ended > TOO_MANY_FAILED ? 'bad' : 'warn'
}

/** What the age of the oldest startable job means; null = there is none. */
export function toneOfAge(seconds: number | null): 'good' | 'warn' | 'bad' {
  if (seconds === null || seconds < LATE_SECONDS) return 'good'
  return seconds < TOO_LATE_SECONDS ? 'warn' : 'bad'
}
