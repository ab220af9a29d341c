import type { OwnSecretsReason, WantedCondition } from '../../resources/conditions.ts'
import type { HttpCron } from '../kinds.ts'
import { canSucceed } from '../reconcile/can-succeed.ts'
import {
  invalidSpec,
  RECONCILED,
  secretProblem,
  unavailable,
  type Unavailable,
} from '../reconcile/ready-conditions.ts'
import type { SecretProblem } from '../secrets/secret-values.ts'
import type { CronProblem } from './cron-check.ts'

/** Says how the reconcile of a resource ended. */
export type CronOutcome =
  | { readonly kind: 'applied'; readonly cronId: number; readonly nextRunAtMs: number | null }
  | ({ readonly kind: 'refused' } & CronProblem)
  /** Nothing is applied, because the calls would lack what they take from Secrets. */
  | ({ readonly kind: 'secret' } & SecretProblem<OwnSecretsReason>)
  | { readonly kind: 'over_quota'; readonly obstacle: string }

type Wanted = WantedCondition<'HttpCron'>

/** Says why a cron is or is not `Ready`, and whether it ticks. @param isQueueFound whether the queue that it names exists */
export function cronConditions(
  { spec, status }: HttpCron,
  outcome: CronOutcome | Unavailable,
  isQueueFound: boolean,
): readonly Wanted[] {
  const wasApplied = status?.id !== undefined
  switch (outcome.kind) {
    case 'applied':
      return [RECONCILED, scheduled(spec.active), ...canSucceed(spec), ...queueFound(spec, isQueueFound)]
    case 'refused': {
      const { reason, problem } = outcome
      const message = wasApplied ? `${problem} The settings applied earlier stay.` : problem
      const notScheduled = { type: 'Scheduled', status: 'False', reason, message } as const
      // The cron is not stalled, because the TeamSettings that opens the target may be on its way in the same release.
      return reason === 'TargetBlocked'
        ? [{ type: 'Ready', status: 'False', reason, message }, notScheduled]
        : [...invalidSpec(message), notScheduled]
    }
    case 'over_quota': {
      const message = `${outcome.obstacle} ${wasApplied ? 'It is paused.' : 'It is not applied.'}`
      const exceeded = { status: 'False', reason: 'QuotaExceeded', message } as const
      return [
        { type: 'Ready', ...exceeded },
        { type: 'Scheduled', ...exceeded },
      ]
    }
    case 'secret':
      return [secretProblem(outcome)]
    case 'unavailable':
      return unavailable(outcome)
  }
}

function queueFound({ queue }: HttpCron['spec'], isFound: boolean): readonly Wanted[] {
  if (queue === undefined) return []
  const name = JSON.stringify(queue)
  if (isFound) {
    const message = `There is a queue ${name}.`
    return [{ type: 'QueueFound', status: 'True', reason: 'Found', message }]
  }
  const message = `There is no HttpQueue with the queue name ${name}: unless one is applied, the first run makes the queue, with default settings.`
  return [{ type: 'QueueFound', status: 'False', reason: 'NotFound', message }]
}

function scheduled(isActive: boolean): Wanted {
  return isActive
    ? { type: 'Scheduled', status: 'True', reason: 'Scheduled', message: 'It ticks by spec.cronExpression.' }
    : {
        type: 'Scheduled',
        status: 'False',
        reason: 'Paused',
        message: 'spec.active is false: it does not tick.',
      }
}
