import type { FailureReason } from '../jobs/job.ts'
import type { AttemptEnd } from '../jobs/retry-policy.ts'
import type { AlertType } from './alert.ts'

/** Alerts that the end of an attempt raises for its queue. */
export interface QueueAlerts {
  readonly types: readonly AlertType[]
  readonly reason: FailureReason
}

const WARNING: readonly AlertType[] = Object.freeze(['warning'])
const FAILURE: readonly AlertType[] = Object.freeze(['failure'])
const BOTH: readonly AlertType[] = Object.freeze(['warning', 'failure'])

/**
 * The first failure of a chain is a warning, its dead letter a failure. A chain without retries has both at once. null =
 * nothing; so it is where the queue had its alerts switched off when the chain began.
 */
export function queueAlerts(
  attempt: number,
  alertsEnabled: boolean,
  { kind, attempts }: AttemptEnd,
): QueueAlerts | null {
  const reason = attempts.at(-1)?.failureReason ?? null
  if (!alertsEnabled || reason === null) return null
  const isFirst = attempt === 1
  if (kind === 'retry') return isFirst ? { types: WARNING, reason } : null
  return { types: isFirst ? BOTH : FAILURE, reason }
}
