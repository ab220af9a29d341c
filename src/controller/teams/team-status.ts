import { effectiveQuotas, quotasOf, type TeamQuotas } from '../../domain/quotas.ts'
import type { TeamUsage } from '../../ports/quotas.ts'
import { mergeConditions } from '../../resources/conditions.ts'
import type { ReasonsOf, WantedCondition } from '../../resources/conditions.ts'
import type { TeamSettingsStatus } from '../../resources/generated/kinds.ts'
import type { TeamSettings } from '../kinds.ts'

/** What came of a team's settings. Whatever is wrong, the settings before stay in force as a whole. */
export type TeamOutcome =
  | { readonly kind: 'applied' }
  | { readonly kind: 'refused'; readonly problem: string }
  | { readonly kind: 'secret'; readonly reason: SecretReason; readonly message: string }
  | { readonly kind: 'unavailable'; readonly message: string }

export type SecretReason = Extract<ReasonsOf['TeamSettings']['Ready'], `Secret${string}`>

type Wanted = WantedCondition<'TeamSettings'>

const KEPT =
  'The settings before stay in force; without any, calls go out unsigned and to public addresses only until then.'

export interface TeamFacts {
  /** Pushed queues of the team that stay without a resource, because there are too many. */
  readonly waiting: number
  /** The quotas of all teams. */
  readonly installation: TeamQuotas
  /** null = not known yet: what the status says stays. */
  readonly usage: TeamUsage | null
  readonly wallMs: number
}

/** The whole status as it is to be; equal to the one before when nothing has changed. */
export function teamStatus(team: TeamSettings, outcome: TeamOutcome, facts: TeamFacts): TeamSettingsStatus {
  const generation = team.metadata.generation ?? 0
  const wanted = [...conditionsOf(outcome), ...pushedQueues(facts.waiting)]
  return {
    observedGeneration: generation,
    ...engineFields(team, outcome, facts),
    conditions: mergeConditions<'TeamSettings'>(team.status?.conditions ?? [], wanted, {
      generation,
      wallMs: facts.wallMs,
    }),
  }
}

/** Settings that could not be put in force leave the quotas of those before. */
function engineFields(
  { spec, status }: TeamSettings,
  outcome: TeamOutcome,
  { installation, usage }: TeamFacts,
): Pick<TeamSettingsStatus, 'quotas' | 'usage'> {
  const quotas =
    outcome.kind === 'applied'
      ? boundsOf(effectiveQuotas(quotasOf(spec.quotas), installation))
      : status?.quotas
  const told = usage ?? status?.usage
  return {
    ...(quotas === undefined ? {} : { quotas }),
    ...(told === undefined ? {} : { usage: told }),
  }
}

/** What is not bounded is left out; undefined = nothing is. */
function boundsOf(quotas: TeamQuotas): TeamSettingsStatus['quotas'] {
  const bounds = Object.entries(quotas).filter(([, quota]) => quota !== null)
  return bounds.length === 0 ? undefined : Object.fromEntries(bounds)
}

function conditionsOf(outcome: TeamOutcome): readonly Wanted[] {
  switch (outcome.kind) {
    case 'applied':
      return [{ type: 'Ready', status: 'True', reason: 'Reconciled', message: 'The settings are in force.' }]
    case 'refused':
      return [
        { type: 'Ready', status: 'False', reason: 'InvalidSpec', message: outcome.problem },
        { type: 'Stalled', status: 'True', reason: 'InvalidSpec', message: outcome.problem },
      ]
    case 'secret': {
      const message = `${outcome.message} ${KEPT}`
      return [
        { type: 'Ready', status: 'False', reason: outcome.reason, message },
        { type: 'Reconciling', status: 'True', reason: 'ProgressingWithRetry', message },
      ]
    }
    case 'unavailable': {
      const { message } = outcome
      return [
        { type: 'Ready', status: 'Unknown', reason: 'BackendUnavailable', message },
        { type: 'Reconciling', status: 'True', reason: 'ProgressingWithRetry', message },
      ]
    }
  }
}

function pushedQueues(waiting: number): readonly Wanted[] {
  if (waiting === 0) return []
  const message =
    'More queues were pushed to than get an HttpQueue of their own. They work by the defaults; make an HttpQueue for those that need other settings.'
  return [{ type: 'PushedQueues', status: 'False', reason: 'TooMany', message }]
}
