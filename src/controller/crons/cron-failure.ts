import type { CronStatsEntry } from '../../ports/crons.ts'
import { kubernetesTime, type WantedCondition } from '../../resources/conditions.ts'
import type { HttpCronStatus } from '../../resources/generated/kinds.ts'
import { failingIn, type ShownFailure } from '../reconcile/failing-condition.ts'

/** The condition `Failing`, which is there once a failure was raised. */
export function cronFailing(
  before: HttpCronStatus,
  { failing }: CronStatsEntry,
): ReadonlyArray<WantedCondition<'HttpCron'>> {
  if (failing !== null) {
    const message = `Its runs fail (${failing}), as many in a row as spec.alertThreshold says.`
    return [{ type: 'Failing', status: 'True', reason: 'FailureRaised', message }]
  }
  const wasRaised = failingIn(before.conditions) !== undefined
  const message = 'A run has succeeded since it failed.'
  return wasRaised ? [{ type: 'Failing', status: 'False', reason: 'Recovered', message }] : []
}

/** Keeps the failure that the status shows if the new one says the same. It stays when later runs succeed. */
export function shownCronFailure(
  before: ShownFailure | undefined,
  { lastFailure }: CronStatsEntry,
): ShownFailure | undefined {
  if (lastFailure === null) return before
  const { reason } = lastFailure
  const time = kubernetesTime(lastFailure.scheduledAtMs)
  return before?.time === time && before.reason === reason ? before : { time, reason }
}

export function isCronFailureStale(status: HttpCronStatus, state: CronStatsEntry): boolean {
  const [wanted] = cronFailing(status, state)
  return (
    shownCronFailure(status.lastFailure, state) !== status.lastFailure ||
    wanted?.status !== failingIn(status.conditions)?.status
  )
}
