import type { WantedCondition } from '../../resources/conditions.ts'
import type { HttpCron } from '../kinds.ts'
import { invalidSpec, RECONCILED, unavailable, type Unavailable } from '../reconcile/ready-conditions.ts'
import type { CronProblem } from './cron-check.ts'

/** How the reconcile of a resource ended. */
export type CronOutcome =
  | { readonly kind: 'applied'; readonly cronId: number; readonly nextRunAtMs: number | null }
  | ({ readonly kind: 'refused' } & CronProblem)
  | { readonly kind: 'over_quota'; readonly obstacle: string }

type Wanted = WantedCondition<'HttpCron'>

/** Says why a cron is or is not `Ready`, and whether it ticks. */
export function cronConditions(
  { spec, status }: HttpCron,
  outcome: CronOutcome | Unavailable,
): readonly Wanted[] {
  const wasApplied = status?.id !== undefined
  switch (outcome.kind) {
    case 'applied':
      return [RECONCILED, scheduled(spec.active)]
    case 'refused': {
      const { reason, problem } = outcome
      const message = wasApplied ? `${problem} The settings applied earlier stay.` : problem
      return [...invalidSpec(message), { type: 'Scheduled', status: 'False', reason, message }]
    }
    case 'over_quota': {
      const message = `${outcome.obstacle} ${wasApplied ? 'It is paused.' : 'It is not applied.'}`
      const exceeded = { status: 'False', reason: 'QuotaExceeded', message } as const
      return [
        { type: 'Ready', ...exceeded },
        { type: 'Scheduled', ...exceeded },
      ]
    }
    case 'unavailable':
      return unavailable(outcome)
  }
}

function scheduled(isActive: boolean): Wanted {
  return isActive
    ? { type: 'Scheduled', status: 'True', reason: 'Scheduled', message: 'It ticks by spec.cronExpression.' }
    : {
        ...{ type: 'Scheduled', status: 'False', reason: 'Paused' },
        message: 'spec.active is false: it does not tick.',
      }
}
