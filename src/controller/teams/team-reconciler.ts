import { egressEntryProblem } from '../../domain/net/egress-list.ts'
import { StoreUnavailableError } from '../../domain/errors.ts'
import { isQuota, QUOTA_NAMES, quotasOf, type TeamQuotas } from '../../domain/quotas.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { ControllerMetrics } from '../../ports/metrics.ts'
import type {
  EventRecorder,
  ObjectKey,
  ReconcileEnd,
  Reconciler,
  Informer,
  ResourceWriter,
  SecretReader,
} from '../../ports/kubernetes.ts'
import type { TeamUsage } from '../../ports/quotas.ts'
import { isSameStatus } from '../../resources/conditions.ts'
import type { TeamSettingsStatus } from '../../resources/generated/kinds.ts'
import { placeOfKey } from '../../resources/queue-owner.ts'
import { engineAway } from '../reconcile/engine-away.ts'
import type { LeaderSession } from '../engine/leader-session.ts'
import { keyOf, refOf, type TeamSettings } from '../kinds.ts'
import { readSigningSecrets } from './signing-secrets.ts'
import { teamStatus, type TeamOutcome } from './team-status.ts'
import { ignoreNotFound } from '../reconcile/ignore-not-found.ts'

/** The one name that TeamSettings have. */
export const TEAM_SETTINGS_NAME = 'team'

export interface TeamReconcilerParts {
  readonly view: Pick<Informer<TeamSettings>, 'get'>
  readonly writer: Pick<ResourceWriter<TeamSettings>, 'read' | 'applyStatus'>
  readonly engine: Pick<LeaderSession, 'write' | 'obstacle'>
  readonly secrets: SecretReader
  /** Pushed queues of a namespace that stay without a resource. */
  readonly waitingOf: (namespace: string) => number
  /** What the status is to say of what the team holds; null = not known yet. */
  readonly usageOf: (key: ObjectKey) => TeamUsage | null
  /** The installation's. */
  readonly quotas: TeamQuotas
  readonly events: EventRecorder
  readonly clock: Clock
  readonly metrics: Pick<ControllerMetrics, 'statusWritten'>
}

const KEPT = 'the settings before stay in force, these follow'
/** Secrets are not watched, for that would need the right to list them all: they are read anew this often. */
export const SECRET_LOOK_MS = 30_000
/** With many teams less often, so that there are at most ten reads a second. */
const SECRET_LOOK_MS_PER_TEAM = 100

/** Keys are `namespace/name`. */
export function createTeamReconciler(parts: TeamReconcilerParts): Reconciler {
  /** Teams whose secrets are looked at again and again. */
  const looking = new Set<ObjectKey>()

  const lookAfterMs = (): number => Math.max(SECRET_LOOK_MS, looking.size * SECRET_LOOK_MS_PER_TEAM)

  async function settle(settings: TeamSettings): Promise<TeamOutcome> {
    const { namespace } = settings.metadata
    const { egress, signing, quotas } = settings.spec
    const problem = egressProblem(egress.allow) ?? quotaProblem(quotasOf(quotas))
    if (problem !== null) return { kind: 'refused', problem }
    const found = await readSigningSecrets(parts.secrets, namespace, signing.secretRefs)
    if (found.kind === 'problem') return { ...found, kind: 'secret' }
    const policy = { egressAllow: egress.allow, signingSecrets: found.texts, quotas: quotasOf(quotas) }
    await parts.engine.write((compiler) => compiler.putTeam(namespace, policy))
    return { kind: 'applied' }
  }

  async function tell(settings: TeamSettings, outcome: TeamOutcome): Promise<void> {
    const status = teamStatus(settings, outcome, {
      waiting: parts.waitingOf(settings.metadata.namespace),
      installation: parts.quotas,
      usage: parts.usageOf(keyOf(settings)),
      wallMs: parts.clock.wallMs(),
    })
    if (isSameStatus(settings.status, status)) return
    await ignoreNotFound(() => parts.writer.applyStatus(refOf(settings), status))
    parts.metrics.statusWritten('TeamSettings')
    tellEvent(parts.events, settings, status)
  }

  async function reconcile(key: ObjectKey): Promise<ReconcileEnd> {
    const settings = parts.view.get(key)
    if (settings === undefined || settings.metadata.deletionTimestamp !== undefined) {
      looking.delete(key)
      await forget(parts, key)
      return { requeueAfterMs: null }
    }
    const hasSecrets = settings.spec.signing.secretRefs.length > 0
    if (hasSecrets) looking.add(key)
    else looking.delete(key)
    try {
      await tell(settings, await settle(settings))
    } catch (error) {
      if (error instanceof StoreUnavailableError) {
        await tell(settings, { kind: 'unavailable', message: engineAway(parts.engine, KEPT) })
      }
      throw error
    }
    return { requeueAfterMs: hasSecrets ? lookAfterMs() : null }
  }

  return { reconcile }
}

/** Only on the word of the API server itself: without their settings a team's calls go out unsigned. */
async function forget({ writer, engine }: TeamReconcilerParts, key: ObjectKey): Promise<void> {
  const { team, name } = placeOfKey(key)
  if (name !== TEAM_SETTINGS_NAME) return
  const found = await writer.read(team, name)
  if (found !== null && found.metadata.deletionTimestamp === undefined) return
  await engine.write((compiler) => compiler.removeTeam(team))
}

function egressProblem(allow: readonly string[]): string | null {
  const problems = allow.flatMap((entry, index) => {
    const reason = egressEntryProblem(entry)
    return reason === null ? [] : [`spec.egress.allow[${index}] ${reason}`]
  })
  return problems[0] ?? null
}

/** A CRD of before quotas checks none of them. */
function quotaProblem(quotas: TeamQuotas): string | null {
  const wrong = QUOTA_NAMES.find((name) => quotas[name] !== null && !isQuota(quotas[name]))
  return wrong === undefined ? null : `spec.quotas.${wrong} must be a whole number from 0 on.`
}

/** Trouble that begins is told, with the reason of the condition; so is its end. */
function tellEvent(events: EventRecorder, settings: TeamSettings, after: TeamSettingsStatus): void {
  const readyOf = (status: TeamSettingsStatus | undefined) =>
    status?.conditions?.find(({ type }) => type === 'Ready')
  const before = readyOf(settings.status)
  const now = readyOf(after)
  if (now === undefined || now.reason === before?.reason || now.reason === 'BackendUnavailable') return
  if (now.reason === 'Reconciled' && (before === undefined || before.reason === 'BackendUnavailable')) return
  const type = now.status === 'True' ? 'Normal' : 'Warning'
  const { reason, message: note } = now
  events.record({ regarding: refOf(settings), type, reason, action: 'ApplyTeamSettings', note })
}
