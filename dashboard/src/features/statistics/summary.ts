import type { StatisticsPoint } from '../../../../clients/typescript/src/client.ts'

export interface Summary {
  /** Jobs that ended. */
  readonly ended: number
  readonly failed: number
  readonly dead: number
  /** Of the last point that is over; jobs a second. */
  readonly perSecond: number
  /** The worst of all points; null without calls. */
  readonly latenessMs: number | null
  /** Of the last count, null when no job was ready. */
  readonly oldestReadySeconds: number | null
}

/** @param step seconds of a point */
export function summaryOf(points: readonly StatisticsPoint[], step: number): Summary {
  const sum = (of: (point: StatisticsPoint) => number) =>
    points.reduce((total, point) => total + of(point), 0)
  const lateness = points.flatMap(({ lateness_ms: quantiles }) => (quantiles === null ? [] : [quantiles.p99]))
  const [before, last] = points.slice(-2)
  const whole = before ?? last
  return {
    ended: sum(({ done, failed }) => done + failed),
    failed: sum(({ failed }) => failed),
    dead: sum(({ dead }) => dead),
    perSecond: whole === undefined ? 0 : (whole.done + whole.failed) / step,
    latenessMs: lateness.length === 0 ? null : Math.max(...lateness),
    // The minute that has just begun may not be counted yet.
    oldestReadySeconds: last?.oldest_ready_seconds ?? before?.oldest_ready_seconds ?? null,
  }
}

/** A ready job that waits so long is worth a look, and so long a fault. */
const LATE_SECONDS = 10
const TOO_LATE_SECONDS = 60

/** Of the age of the oldest ready job; null = there is none. */
export function toneOfAge(seconds: number | null): 'good' | 'warn' | 'bad' {
  if (seconds === null || seconds < LATE_SECONDS) return 'good'
  return seconds < TOO_LATE_SECONDS ? 'warn' : 'bad'
}
