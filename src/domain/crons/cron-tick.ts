import type { CronSchedule } from './cron-schedule.ts'

/** What becomes of ticks that could not run in their time. */
export type MissedRunPolicy = 'latest' | 'skip' | 'all'

export interface TickRules {
  readonly missedRunPolicy: MissedRunPolicy
  /** Older ticks are missed for good; null = none is too old. */
  readonly startingDeadlineMs: number | null
}

/** Ticks that do not run, as one record. */
export interface MissedTicks {
  readonly firstMs: number
  readonly lastMs: number
  /** At most `MISSED_COUNTED_MAX`: more than that is not counted. */
  readonly count: number
}

export interface DueTicks {
  /** Ticks that run now, oldest first. */
  readonly run: readonly number[]
  readonly missed: MissedTicks | null
  /** The first tick that is still to come; null = none comes. */
  readonly nextMs: number | null
}

/** A tick that runs this late is late, no more; without a starting deadline it counts as missed after that. */
export const MISSED_AFTER_MS = 60_000
/** The most ticks made up for at once. */
export const MADE_UP_MAX = 100
export const MISSED_COUNTED_MAX = 10_000

/**
 * Decides about the ticks that are due. None of them is left out: each runs or is missed.
 * @param expectedMs the first tick not yet decided about, at or before `nowMs`
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
 * The ticks that are due where none of them will run any more.
 * @param expectedMs the first tick not yet decided about; it counts, whatever `nowMs` is
 */
export function missedTicks(schedule: CronSchedule, expectedMs: number, nowMs: number): MissedTicks {
  return firstMissed(schedule, expectedMs, nowMs, MISSED_COUNTED_MAX)
}

export function oneMissed(tickMs: number): MissedTicks {
  return { firstMs: tickMs, lastMs: tickMs, count: 1 }
}

/** The expression may have been edited since: the tick that was promised counts, whether it is one or not. */
function countDue(schedule: CronSchedule, expectedMs: number, nowMs: number): number {
  return 1 + schedule.count(expectedMs, nowMs, Infinity).count
}

/** The first ticks that are due, at most so many. */
function firstMissed(schedule: CronSchedule, expectedMs: number, nowMs: number, limit: number): MissedTicks {
  const later = schedule.count(expectedMs, nowMs, Math.min(limit, MISSED_COUNTED_MAX) - 1)
  return { firstMs: expectedMs, lastMs: later.lastMs ?? expectedMs, count: 1 + later.count }
}

/** The last of the ticks that are due, oldest first. */
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
