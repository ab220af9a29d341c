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
  const due = ticksDue(schedule, expectedMs, nowMs)
  const newest = due.length < MISSED_COUNTED_MAX ? due : newestTicks(schedule, expectedMs, nowMs)
  const run = newest.filter((tickMs) => nowMs - tickMs <= lateRunMax(rules)).slice(-runsMax(rules))
  const missed = due.filter((tickMs) => tickMs < (run[0] ?? Infinity))
  return { run, missed: asMissed(missed), nextMs: schedule.next(nowMs) }
}

/**
 * The ticks that are due where none of them will run any more.
 * @param expectedMs the first tick not yet decided about; it counts, whatever `nowMs` is
 */
export function missedTicks(schedule: CronSchedule, expectedMs: number, nowMs: number): MissedTicks {
  return asMissed(ticksDue(schedule, expectedMs, nowMs)) ?? oneMissed(expectedMs)
}

export function oneMissed(tickMs: number): MissedTicks {
  return { firstMs: tickMs, lastMs: tickMs, count: 1 }
}

function asMissed(ticks: readonly number[]): MissedTicks | null {
  const [firstMs] = ticks
  return firstMs === undefined ? null : { firstMs, lastMs: ticks.at(-1) ?? firstMs, count: ticks.length }
}

function ticksDue(schedule: CronSchedule, expectedMs: number, nowMs: number): number[] {
  const due = schedule.between(expectedMs - 1, nowMs, MISSED_COUNTED_MAX)
  // The expression may have been edited since: the tick that was promised counts.
  if (due[0] !== expectedMs) due.unshift(expectedMs)
  return due
}

/** Where more are due than are counted, the last of them. */
function newestTicks(schedule: CronSchedule, expectedMs: number, nowMs: number): number[] {
  const ticks: number[] = []
  let tickMs = schedule.latest(nowMs)
  while (tickMs !== null && tickMs >= expectedMs && ticks.length < MADE_UP_MAX) {
    ticks.unshift(tickMs)
    tickMs = schedule.latest(tickMs - 1)
  }
  return ticks
}

/** How late a tick may run, ms. */
export function lateRunMax({ missedRunPolicy, startingDeadlineMs }: TickRules): number {
  if (startingDeadlineMs !== null) return startingDeadlineMs
  return missedRunPolicy === 'skip' ? MISSED_AFTER_MS : Infinity
}

function runsMax({ missedRunPolicy }: TickRules): number {
  return missedRunPolicy === 'all' ? MADE_UP_MAX : 1
}
