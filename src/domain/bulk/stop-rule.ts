import type { BulkOutcome } from './bulk-outcome.ts'

/** The rule by which a bulk stops: once `min` of its jobs have ended, and that share of them has failed again. */
export interface StopWhen {
  readonly failedAgainPercent: number
  readonly min: number
}

/** Why a bulk has stopped: so many of the jobs that had ended by then had failed again. */
export interface BulkStop {
  readonly failedAgain: number
  readonly ended: number
}

type EndedJobs = Pick<BulkOutcome, 'succeeded' | 'failedAgain'>

/** Why the bulk is to stop; null = it goes on. @param before what had ended before it was resumed, which does not count */
export function stopOf(rule: StopWhen, outcome: EndedJobs, before: EndedJobs): BulkStop | null {
  const failedAgain = outcome.failedAgain - before.failedAgain
  const ended = outcome.succeeded - before.succeeded + failedAgain
  const isOver = ended >= rule.min && failedAgain * 100 >= ended * rule.failedAgainPercent
  return isOver ? { failedAgain, ended } : null
}

/** A rule lets at least so many jobs wait for their end. */
const WAITING_MIN = 200
/** And at most so many, however many have succeeded. */
const WAITING_MAX = 10_000

/**
 * How many jobs a bulk with a rule may have made that have not ended. Without such a bound all of them would have been
 * made before the first one fails. Each success lets it go faster, and what it may do harm with is twice what the rule
 * needs.
 */
export function waitingAllowed({ min }: StopWhen, succeeded: number): number {
  return Math.max(min * 2, Math.min(WAITING_MAX, Math.max(WAITING_MIN, succeeded)))
}
