import { effectiveQuotas, quotasOf, type TeamQuotas } from '../../domain/quotas.ts'
import type { TeamUsage } from '../../ports/quotas.ts'
import type { ReasonsOf, WantedCondition } from '../../resources/conditions.ts'
import type { TeamSettingsStatus } from '../../resources/generated/kinds.ts'
import type { TeamSettings } from '../kinds.ts'
import {
  invalidSpec,
  RECONCILED,
  reconciledStatus,
  retrying,
  unavailable,
  type Unavailable,
} from '../reconcile/ready-conditions.ts'

/** How the reconcile of a team's settings ended. If anything is wrong, all former settings stay applied. */
export type TeamOutcome =
  | { readonly kind: 'applied' }
  | { readonly kind: 'refused'; readonly problem: string }
  | { readonly kind: 'secret'; readonly reason: SecretReason; readonly message: string }

export type SecretReason = Extract<ReasonsOf['TeamSettings']['Ready'], `Secret${string}`>

type Wanted = WantedCondition<'TeamSettings'>

export interface TeamFacts {
  /** Pushed queues that get no resource because the namespace has too many. */
  readonly waiting: number
  /** The quotas of the installation. */
  readonly installation: TeamQuotas
  /** null = not known yet; the status keeps the former usage. */
  readonly usage: TeamUsage | null
  readonly wallMs: number
}

/** The whole status; equal to the one before if nothing has changed. */
export function teamStatus(
  team: TeamSettings,
  outcome: TeamOutcome | Unavailable,
  { waiting, installation, usage, wallMs }: TeamFacts,
): TeamSettingsStatus {
  const { spec, status } = team
  const quotas =
    outcome.kind === 'applied'
      ? boundsOf(effectiveQuotas(quotasOf(spec.quotas), installation))
      : status?.quotas
  const shownUsage = usage ?? status?.usage
  return {
    ...(quotas === undefined ? {} : { quotas }),
    ...(shownUsage === undefined ? {} : { usage: shownUsage }),
    ...reconciledStatus<'TeamSettings'>(team, [...conditionsOf(outcome), ...pushedQueues(waiting)], wallMs),
  }
}

/** Leaves out quotas without a bound; undefined = none has one. */
function boundsOf(quotas: TeamQuotas): TeamSettingsStatus['quotas'] {
  const bounds = Object.entries(quotas).filter(([, quota]) => quota !== null)
  return bounds.length === 0 ? undefined : Object.fromEntries(bounds)
}

function conditionsOf(outcome: TeamOutcome | Unavailable): readonly Wanted[] {
  switch (outcome.kind) {
    case 'applied':
      return [RECONCILED]
    case 'refused':
      return invalidSpec(outcome.problem)
    case 'secret': {
      const message = `${outcome.message} Settings applied earlier stay; without any, calls go out unsigned and only to public addresses.`
      return [{ type: 'Ready', status: 'False', reason: outcome.reason, message }, retrying(message)]
    }
    case 'unavailable':
      return unavailable(outcome)
  }
}

function pushedQueues(waiting: number): readonly Wanted[] {
  if (waiting === 0) return []
  const message =
    'Too many queues were created by pushes, and some have no HttpQueue. These use the default settings; create an HttpQueue for each one that needs others.'
  return [{ type: 'PushedQueues', status: 'False', reason: 'TooMany', message }]
}
