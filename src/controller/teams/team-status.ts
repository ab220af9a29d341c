import { effectiveQuotas, quotasOf, type TeamQuotas } from '../../domain/quotas.ts'
import type { TeamUsage } from '../../ports/quotas.ts'
import type { WantedCondition } from '../../resources/conditions.ts'
import type { Condition, TeamSettingsStatus } from '../../resources/generated/kinds.ts'
import { headerSecretPlansOf } from '../../resources/secret-refs.ts'
import { channelPlansOf } from '../../resources/team-channels.ts'
import type { TeamSettings } from '../kinds.ts'
import {
  invalidSpec,
  RECONCILED,
  reconciledStatus,
  retrying,
  unavailable,
  type Unavailable,
} from '../reconcile/ready-conditions.ts'
import type { SecretProblem } from '../secrets/secret-values.ts'
import type { ChannelProblem } from './team-channels.ts'

/** Says how the reconcile of a team's settings ended. Unless they are applied, all former settings stay applied. */
export type TeamOutcome =
  | {
      readonly kind: 'applied'
      /** Says why channels were left out. */
      readonly channelProblems: readonly ChannelProblem[]
      /** Says why header secrets have no value. */
      readonly headerProblems: readonly SecretProblem[]
      /** The entries of `spec.egress.allow` that open nothing. */
      readonly ineffective: readonly string[]
    }
  | { readonly kind: 'refused'; readonly problem: string }
  | ({ readonly kind: 'secret' } & SecretProblem)

type Wanted = WantedCondition<'TeamSettings'>

export interface TeamFacts {
  /** How many pushed queues get no resource because the namespace has too many. */
  readonly waiting: number
  /** The quotas of the installation. */
  readonly installation: TeamQuotas
  /** null = the usage is not known yet, and the status keeps the former one. */
  readonly usage: TeamUsage | null
  /** The channels that cannot be told at present; null = they are not known yet. */
  readonly failing: readonly ChannelProblem[] | null
  readonly wallMs: number
}

/** Builds the whole status, which equals the one before if nothing has changed. */
export function teamStatus(
  team: TeamSettings,
  outcome: TeamOutcome | Unavailable,
  { waiting, installation, usage, failing, wallMs }: TeamFacts,
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
    ...reconciledStatus<'TeamSettings'>(
      team,
      [
        ...conditionsOf(outcome),
        ...egressAllowed(team, outcome),
        ...notificationsReady(team, outcome, failing),
        ...headerSecretsReady(team, outcome),
        ...pushedQueues(waiting),
      ],
      wallMs,
    ),
  }
}

/** Leaves out quotas without a bound; undefined = no quota has one. */
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

function egressAllowed({ status }: TeamSettings, outcome: TeamOutcome | Unavailable): readonly Wanted[] {
  // What was applied last stays in force.
  if (outcome.kind !== 'applied') return (status?.conditions ?? []).filter(isEgressAllowed)
  if (outcome.ineffective.length === 0) return []
  const entries = outcome.ineffective.map((entry) => JSON.stringify(entry)).join(', ')
  const message = `These entries of spec.egress.allow open nothing, because the installation does not let teams open it (egress.allowable): ${entries}.`
  return [{ type: 'EgressAllowed', status: 'False', reason: 'NotAllowable', message }]
}

function isEgressAllowed(
  condition: Condition,
): condition is Condition & Extract<Wanted, { type: 'EgressAllowed' }> {
  return condition.type === 'EgressAllowed'
}

function notificationsReady(
  { spec, status }: TeamSettings,
  outcome: TeamOutcome | Unavailable,
  failing: TeamFacts['failing'],
): readonly Wanted[] {
  if (channelPlansOf(spec).length === 0) return []
  const former = (status?.conditions ?? []).filter(isNotificationsReady)
  // The former channels stay in force, and with them what is known of them.
  if (outcome.kind !== 'applied') return former
  const problems = [...outcome.channelProblems, ...(failing ?? [])]
  const [first] = problems
  if (first === undefined && failing === null && former[0]?.reason === 'ChannelFailing') return former
  if (first === undefined) {
    const message = 'All channels can be used.'
    return [{ type: 'NotificationsReady', status: 'True', reason: 'Reconciled', message }]
  }
  const message = problems.map((problem) => problem.message).join(' ')
  return [{ type: 'NotificationsReady', status: 'False', reason: first.reason, message }]
}

function isNotificationsReady(
  condition: Condition,
): condition is Condition & Extract<Wanted, { type: 'NotificationsReady' }> {
  return condition.type === 'NotificationsReady'
}

function headerSecretsReady(
  { spec, status }: TeamSettings,
  outcome: TeamOutcome | Unavailable,
): readonly Wanted[] {
  if (headerSecretPlansOf(spec).length === 0) return []
  // What was applied last stays in force.
  if (outcome.kind !== 'applied') return (status?.conditions ?? []).filter(isHeaderSecretsReady)
  const [first] = outcome.headerProblems
  if (first === undefined) {
    const message = 'All header secrets can be sent.'
    return [{ type: 'HeaderSecretsReady', status: 'True', reason: 'Reconciled', message }]
  }
  const message = outcome.headerProblems.map((problem) => problem.message).join(' ')
  return [{ type: 'HeaderSecretsReady', status: 'False', reason: first.reason, message }]
}

function isHeaderSecretsReady(
  condition: Condition,
): condition is Condition & Extract<Wanted, { type: 'HeaderSecretsReady' }> {
  return condition.type === 'HeaderSecretsReady'
}

function pushedQueues(waiting: number): readonly Wanted[] {
  if (waiting === 0) return []
  const message =
    'Too many queues were created by pushes, and some have no HttpQueue. These use the default settings; create an HttpQueue for each one that needs others.'
  return [{ type: 'PushedQueues', status: 'False', reason: 'TooMany', message }]
}
