import type { CronStatsEntry } from '../../ports/crons.ts'
import { kubernetesTime, type WantedCondition } from '../../resources/conditions.ts'
import type { HttpCronStatus } from '../../resources/generated/kinds.ts'
import { failingIn, type ShownFailure } from '../reconcile/failing-condition.ts'

/** `Failing`, once a failure was raised. */
export function cronFailing(
  before: HttpCronStatus,
  { failing }: CronStatsEntry,
): ReadonlyArray<WantedCondition<'HttpCron'>> {
  if (failing !== null) {
    const message = `Its runs fail (${failing}), as many in a row as spec.alertThreshold says.`
    return [{ type: 'Failing', status: 'True', reason: 'FailureRaised', message }]
  }
  const hasFailed = before.lastFailure !== undefined || failingIn(before.conditions) !== undefined
  const message = 'A run has succeeded since it failed.'
  return hasFailed ? [{ type: 'Failing', status: 'False', reason: 'Recovered', message }] : []
}

/** The one before if it says the same. While a run is in flight, the failure before it stays. */
export function shownCronFailure(
  before: ShownFailure | undefined,
  { failing, lastRun }: CronStatsEntry,
): ShownFailure | undefined {
  if (failing === null || lastRun?.result !== 'failed') return before
  const time = kubernetesTime(lastRun.scheduledAtMs)
  return before?.time === time && before.reason === failing ? before : { time, reason: failing }
}

export function isCronFailureStale(status: HttpCronStatus, state: CronStatsEntry): boolean {
  const [wanted] = cronFailing(status, state)
  return (
    shownCronFailure(status.lastFailure, state) !== status.lastFailure ||
    wanted?.status !== failingIn(status.conditions)?.status
  )
}
