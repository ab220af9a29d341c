import type { CronSchedule } from '../../domain/crons/cron-schedule.ts'
import { decideTicks, lateRunMax, type TickRules } from '../../domain/crons/cron-tick.ts'
import type { DecidedCron, DueCron } from '../../ports/crons.ts'

/** Most bytes of runs that a step makes for one cron, beyond its first run. The remaining ticks stay due. */
const RUN_BYTES_MAX = 1024 * 1024

/** Decides what becomes of a cron's due ticks. A cron's time is behind Redis time by its spread. */
export function decideCron(schedule: CronSchedule, cron: DueCron, nowMs: number): DecidedCron {
  const { expectedMs, spreadMs, bytes } = cron
  const shiftedMs = nowMs - spreadMs
  // Listed too early: only its due time in the list is corrected.
  if (expectedMs > shiftedMs) return { cron, run: [], missed: null, nextMs: expectedMs }
  const decided = decideTicks(schedule, rulesOf(cron), expectedMs, shiftedMs)
  const runsMax = Math.max(1, Math.floor(RUN_BYTES_MAX / bytes))
  const [rest] = decided.run.slice(runsMax)
  if (rest === undefined) return { cron, ...decided }
  return { cron, run: decided.run.slice(0, runsMax), missed: decided.missed, nextMs: rest }
}

/** A decision made ahead of its tick is valid until then: the next tick is due, or its runs would be too late. */
export function holdsUntilMs({ cron, run, nextMs }: DecidedCron): number {
  const tooLateMs = run[0] === undefined ? Infinity : run[0] + lateRunMax(rulesOf(cron))
  return Math.min(nextMs ?? Infinity, tooLateMs) + cron.spreadMs
}

function rulesOf({ settings }: DueCron): TickRules {
  const { missedRunPolicy, startingDeadlineSeconds } = settings
  return {
    missedRunPolicy,
    startingDeadlineMs: startingDeadlineSeconds === null ? null : startingDeadlineSeconds * 1000,
  }
}
