import type { CronSchedule } from './cron-schedule.ts'

/** Policy for ticks that could not run in time. */
export type MissedRunPolicy = 'latest' | 'skip' | 'all'

export interface TickRules {
  readonly missedRunPolicy: MissedRunPolicy
  /** Older ticks are missed; null = none is too old. */
  readonly startingDeadlineMs: number | null
}

/** Ticks that did not run, as one record. */
export interface MissedTicks {
  readonly firstMs: number
  readonly lastMs: number
  /** Counted up to `MISSED_COUNTED_MAX`. */
  readonly count: number
}

export interface DueTicks {
  /** Ticks that run now, oldest first. */
  readonly run: readonly number[]
  readonly missed: MissedTicks | null
  /** The next tick; null = there is none. */
  readonly nextMs: number | null
}

/** Up to this a tick is only late; with `skip` and no starting deadline, a later one counts as missed. */
export const MISSED_AFTER_MS = 60_000
/** The most missed ticks that run at once. */
export const MADE_UP_MAX = 100
export const MISSED_COUNTED_MAX = 10_000

/**
 * Decides about the ticks that are due: each of them runs or is missed.
 * @param expectedMs the first tick without a decision, at or before `nowMs`
 */
export function decideTicks(
  schedule: CronSchedule,
  rules: TickRules,
  expectedMs: number,
  nowMs: number,
): DueTicks {
  const due = countDue(schedule, expectedMs, nowMs)
  const newest = newestTicks(schedule, { expectedMs, nowMs, due, limit: runsMax(rules) })
  const run = newest.filter((tickMs) => nowMs - tickMs <= lateRunMax(rules))
  const missed = due - run.length
  return {
    run,
    missed: missed === 0 ? null : firstMissed(schedule, expectedMs, nowMs, missed),
    nextMs: schedule.next(nowMs),
  }
}

/**
 * The due ticks of a cron that runs none of them any more.
 * @param expectedMs the first tick without a decision; it always counts
 */
export function missedTicks(schedule: CronSchedule, expectedMs: number, nowMs: number): MissedTicks {
  return firstMissed(schedule, expectedMs, nowMs, MISSED_COUNTED_MAX)
}

export function oneMissed(tickMs: number): MissedTicks {
  return { firstMs: tickMs, lastMs: tickMs, count: 1 }
}

/** The announced tick always counts, even if the expression was edited and no longer names it. */
function countDue(schedule: CronSchedule, expectedMs: number, nowMs: number): number {
  return 1 + schedule.count(expectedMs, nowMs, Infinity).count
}

/** The first due ticks, at most `limit`. */
function firstMissed(schedule: CronSchedule, expectedMs: number, nowMs: number, limit: number): MissedTicks {
  const later = schedule.count(expectedMs, nowMs, Math.min(limit, MISSED_COUNTED_MAX) - 1)
  return { firstMs: expectedMs, lastMs: later.lastMs ?? expectedMs, count: 1 + later.count }
}

/** The last due ticks, at most `limit`, oldest first. */
function newestTicks(
  schedule: CronSchedule,
  { expectedMs, nowMs, due, limit }: { expectedMs: number; nowMs: number; due: number; limit: number },
): number[] {
  if (due <= limit) return [expectedMs, ...schedule.between(expectedMs, nowMs, limit)]
  const before = schedule.count(expectedMs, nowMs, due - limit - 1).lastMs ?? expectedMs
  return schedule.between(before, nowMs, limit)
}

/** How late a tick may run, ms. */
export function lateRunMax({ missedRunPolicy, startingDeadlineMs }: TickRules): number {
  if (startingDeadlineMs !== null) return startingDeadlineMs
  return missedRunPolicy === 'skip' ? MISSED_AFTER_MS : Infinity
}

function runsMax({ missedRunPolicy }: TickRules): number {
  return missedRunPolicy === 'all' ? MADE_UP_MAX : 1
}
