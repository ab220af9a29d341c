import type { CronSchedule } from '../../domain/crons/cron-schedule.ts'
import { decideTicks, lateRunMax, type TickRules } from '../../domain/crons/cron-tick.ts'
import type { DecidedCron, DueCron } from '../../ports/crons.ts'

/** A step's requests are as large as this at most, one run apart: what is over follows as ticks that are still due. */
const RUN_BYTES_MAX = 1024 * 1024

/** What becomes of a cron's due ticks. Its clock is behind by its spread. */
export function decideCron(schedule: CronSchedule, cron: DueCron, nowMs: number): DecidedCron {
  const { expectedMs, spreadMs, bytes } = cron
  const shiftedMs = nowMs - spreadMs
  // Listed too early: only its place in the list is put right.
  if (expectedMs > shiftedMs) return { cron, run: [], missed: null, nextMs: expectedMs }
  const decided = decideTicks(schedule, rulesOf(cron), expectedMs, shiftedMs)
  const runsMax = Math.max(1, Math.floor(RUN_BYTES_MAX / bytes))
  const [rest] = decided.run.slice(runsMax)
  if (rest === undefined) return { cron, ...decided }
  return { cron, run: decided.run.slice(0, runsMax), missed: decided.missed, nextMs: rest }
}

/** Until when a decision stands that was made for the moment the tick is due: then the next tick is due too, or its
 * runs are too late. */
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
