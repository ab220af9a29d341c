import type { LastFailure } from '../../ports/queues.ts'
import { kubernetesTime, type WantedCondition } from '../../resources/conditions.ts'
import type { HttpQueueSpec } from '../../resources/generated/kinds.ts'
import type { HttpQueue } from '../kinds.ts'
import { failingIn, type ShownFailure } from '../reconcile/failing-condition.ts'

/** A queue counts as failing for this long after a job of it failed for good. */
export const QUEUE_FAILING_MS = 15 * 60_000
/**
 * A failure that is newer by less than this is no news, so the status of a queue that goes on failing is written once a
 * minute.
 */
export const FAILURE_SLACK_MS = 60_000

/** The condition `Failing`, which is there once a job has failed for good while the queue wants alerts. */
export function queueFailing(
  { alertsEnabled }: Pick<HttpQueueSpec, 'alertsEnabled'>,
  failure: LastFailure | null,
): ReadonlyArray<WantedCondition<'HttpQueue'>> {
  if (failure === null || !alertsEnabled) return []
  return failure.ageMs < QUEUE_FAILING_MS
    ? [
        {
          type: 'Failing',
          status: 'True',
          reason: 'FailureRaised',
          message: `Jobs fail for good (${failure.reason}).`,
        },
      ]
    : [
        {
          type: 'Failing',
          status: 'False',
          reason: 'NoRecentFailure',
          message: `No job has failed for good within ${QUEUE_FAILING_MS / 60_000} minutes.`,
        },
      ]
}

/** Keeps the failure that the status shows if the new one says the same. */
export function shownFailure(
  before: ShownFailure | undefined,
  failure: LastFailure | null,
): ShownFailure | undefined {
  if (failure === null) return undefined
  const { atMs, reason } = failure
  const isSame = before?.reason === reason && Math.abs(Date.parse(before.time) - atMs) < FAILURE_SLACK_MS
  return isSame ? before : { time: kubernetesTime(atMs), reason }
}

export function isFailureStale(
  { spec, status = {} }: Pick<HttpQueue, 'spec' | 'status'>,
  failure: LastFailure | null,
): boolean {
  const [wanted] = queueFailing(spec, failure)
  return (
    shownFailure(status.lastFailure, failure) !== status.lastFailure ||
    wanted?.status !== failingIn(status.conditions)?.status
  )
}
