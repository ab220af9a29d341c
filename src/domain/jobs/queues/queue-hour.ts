import { quantile } from '../../statistics/histogram.ts'
import { addTally, emptyTally, endedJobs, type Tally } from '../../statistics/tally.ts'

/** An hour has so many minutes, the one that has just begun included. */
export const HOUR_MINUTES = 60
/** Minutes of one step of the trend. */
export const TREND_MINUTES = 5
const TREND_STEPS = HOUR_MINUTES / TREND_MINUTES

/** What happened in a queue within an hour. */
export interface QueueHour {
  /** Jobs that ended; every attempt is one. */
  readonly ended: number
  readonly failed: number
  /** null when no call ended. */
  readonly latenessMsP99: number | null
  /** For each five minutes, the oldest first. */
  readonly trend: { readonly ended: readonly number[]; readonly failed: readonly number[] }
}

/** @param minutes by minutes since 1970 @param since the first minute of the hour */
export function hourOf(minutes: ReadonlyMap<number, Tally>, since: number): QueueHour {
  const sum = emptyTally()
  const ended = Array.from({ length: TREND_STEPS }, () => 0)
  const failed = Array.from({ length: TREND_STEPS }, () => 0)
  for (const [minute, tally] of minutes) {
    const step = Math.floor((minute - since) / TREND_MINUTES)
    if (step < 0 || step >= TREND_STEPS) continue
    addTally(sum, tally, 'max')
    const all = endedJobs(tally)
    ended[step] = (ended[step] ?? 0) + all
    failed[step] = (failed[step] ?? 0) + all - tally.done
  }
  return {
    ended: endedJobs(sum),
    failed: endedJobs(sum) - sum.done,
    latenessMsP99: quantile(sum.lateness, 0.99, sum.longestLatenessMs),
    trend: { ended, failed },
  }
}
