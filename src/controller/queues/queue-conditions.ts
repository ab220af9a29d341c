import type { OwnSecretsReason, WantedCondition } from '../../resources/conditions.ts'
import type { NotedLoss, QueueCounts } from '../../ports/queues.ts'
import type { EngineLoss } from '../engine/engine-loss.ts'
import type { HttpQueue } from '../kinds.ts'
import { canSucceed } from '../reconcile/can-succeed.ts'
import {
  invalidSpec,
  RECONCILED,
  secretProblem,
  unavailable,
  type Unavailable,
} from '../reconcile/ready-conditions.ts'
import { jobsLost } from './queue-loss.ts'
import type { SecretProblem } from '../secrets/secret-values.ts'

/** Says how the reconcile of a resource ended. */
export type QueueOutcome =
  | { readonly kind: 'applied'; readonly queueId: number }
  | { readonly kind: 'refused'; readonly problem: string }
  /** Nothing is applied, because the calls would lack what they take from Secrets. */
  | ({ readonly kind: 'secret' } & SecretProblem<OwnSecretsReason>)
  /** @property isPushed a push created this one, so it is deleted as soon as the other one is applied */
  | { readonly kind: 'name_taken'; readonly by: string; readonly isPushed: boolean }

type Wanted = WantedCondition<'HttpQueue'>

/** Says why a queue is or is not `Ready`, whether its jobs start, are throttled and fail, and what was lost. */
export function queueConditions(
  queue: HttpQueue,
  outcome: QueueOutcome | Unavailable,
  {
    loss,
    lostJobs,
    risks,
    failing,
    throttle,
    counts,
  }: {
    readonly loss: EngineLoss | null
    /** Jobs of this queue that Redis came back without. */
    readonly lostJobs: NotedLoss | null
    readonly risks: readonly string[]
    readonly failing: readonly Wanted[]
    readonly throttle: readonly Wanted[]
    /** null = the jobs were not counted yet. */
    readonly counts: QueueCounts | null
  },
): readonly Wanted[] {
  if (outcome.kind === 'name_taken') return [nameTaken(outcome.by, outcome.isPushed)]
  return [
    ...readiness(queue, outcome),
    ...draining(queue, counts),
    ...jobsLost(lostJobs, loss),
    ...jobsAtRisk(risks),
    ...failing,
    ...throttle,
  ]
}

function readiness(
  queue: HttpQueue,
  outcome: Exclude<QueueOutcome, { kind: 'name_taken' }> | Unavailable,
): readonly Wanted[] {
  switch (outcome.kind) {
    case 'applied':
      return [RECONCILED, dispatching(queue.spec.active), ...canSucceed(queue.spec)]
    case 'refused':
      return invalidSpec(outcome.problem)
    case 'secret':
      return [secretProblem(outcome)]
    case 'unavailable':
      return unavailable(outcome)
  }
}

function nameTaken(by: string, isPushed: boolean): Wanted {
  const message = isPushed
    ? `HttpQueue ${by} has this queue name but is not applied yet. Once it is, this resource, which a push created, is deleted.`
    : `HttpQueue ${by} is older and has this queue name: this resource is not applied.`
  return { type: 'Ready', status: 'False', reason: 'NameTaken', message }
}

function dispatching(isActive: boolean): Wanted {
  const message = isActive ? 'Jobs are started.' : 'spec.active is false: no jobs are started.'
  return isActive
    ? { type: 'Dispatching', status: 'True', reason: 'Active', message }
    : { type: 'Dispatching', status: 'False', reason: 'Paused', message }
}

function draining({ spec }: HttpQueue, counts: QueueCounts | null): readonly Wanted[] {
  if (!spec.draining) return []
  const left = counts === null ? null : counts.pending + counts.delayed + counts.processing
  return [
    left === 0
      ? {
          type: 'Draining',
          status: 'True',
          reason: 'Drained',
          message: 'No job is left. New jobs are refused.',
        }
      : {
          type: 'Draining',
          status: 'True',
          reason: 'Draining',
          message: 'spec.draining is true: new jobs are refused, and the rest runs off.',
        },
  ]
}

function jobsAtRisk(risks: readonly string[]): readonly Wanted[] {
  if (risks.length === 0) return []
  const message = `${risks.join(' ')} Jobs are taken and called as before.`
  return [{ type: 'JobsAtRisk', status: 'True', reason: 'RedisUnsafe', message }]
}
