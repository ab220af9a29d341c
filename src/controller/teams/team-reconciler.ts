import { egressEntryProblem } from '../../domain/net/egress-list.ts'
import { isQuota, QUOTA_NAMES, quotasOf, type TeamQuotas } from '../../domain/quotas.ts'
import type { ObjectKey, Reconciler, SecretReader } from '../../ports/kubernetes.ts'
import type { TeamUsage } from '../../ports/quotas.ts'
import { isDeleted } from '../../resources/finalizers.ts'
import { parseKey } from '../../resources/queue-owner.ts'
import { keyOf, TEAM_SETTINGS_NAME, type TeamSettings } from '../kinds.ts'
import type { ReconcilerParts } from '../reconcile/reconciler-parts.ts'
import { CHANGE_PENDING, StatusWriter } from '../reconcile/status-writer.ts'
import { isDeletionConfirmed } from './confirmed-deletion.ts'
import { readSigningSecrets } from './signing-secrets.ts'
import { teamStatus, type TeamOutcome } from './team-status.ts'

export interface TeamReconcilerParts extends ReconcilerParts<TeamSettings> {
  readonly secrets: SecretReader
  /** Pushed queues that get no resource because the namespace has too many. */
  readonly waitingOf: (namespace: string) => number
  /** The usage that the status is to show; null = not known yet. */
  readonly usageOf: (key: ObjectKey) => TeamUsage | null
  /** The quotas of the installation. */
  readonly quotas: TeamQuotas
}

/** Secrets are polled: watching them would need the right to list every Secret. */
export const SECRET_POLL_MS = 30_000
/** Many teams are polled less often, so that there are at most ten reads per second. */
const SECRET_POLL_MS_PER_TEAM = 100

/** Keys are `namespace/name`. */
export function createTeamReconciler(parts: TeamReconcilerParts): Reconciler {
  const { informer, engine } = parts
  const status = new StatusWriter<TeamSettings, TeamOutcome>({
    ...{ ...parts, kind: 'TeamSettings', action: 'ApplyTeamSettings' },
    pending: () => CHANGE_PENDING,
    statusOf: (settings, outcome) =>
      teamStatus(settings, outcome, {
        waiting: parts.waitingOf(settings.metadata.namespace),
        installation: parts.quotas,
        usage: parts.usageOf(keyOf(settings)),
        wallMs: parts.clock.wallMs(),
      }),
  })
  /** Teams whose Secrets are polled. */
  const polled = new Set<ObjectKey>()

  return {
    reconcile: async (key) => {
      const settings = informer.get(key)
      if (settings === undefined || isDeleted(settings)) {
        polled.delete(key)
        const { team, name } = parseKey(key)
        // Removed by mistake, the settings would leave the team's calls unsigned.
        if (name === TEAM_SETTINGS_NAME && (await isDeletionConfirmed(parts.writer, key))) {
          await engine.write((compiler) => compiler.removeTeam(team))
        }
        return { requeueAfterMs: null }
      }
      const hasSecrets = settings.spec.signing.secretRefs.length > 0
      if (hasSecrets) polled.add(key)
      else polled.delete(key)
      await status.report(settings, () => applySettings(parts, settings))
      const pollMs = Math.max(SECRET_POLL_MS, polled.size * SECRET_POLL_MS_PER_TEAM)
      return { requeueAfterMs: hasSecrets ? pollMs : null }
    },
  }
}

async function applySettings(
  { engine, secrets }: TeamReconcilerParts,
  { metadata: { namespace }, spec }: TeamSettings,
): Promise<TeamOutcome> {
  const egressAllow = spec.egress.allow
  const quotas = quotasOf(spec.quotas)
  const problem = egressProblem(egressAllow) ?? quotaProblem(quotas)
  if (problem !== null) return { kind: 'refused', problem }
  const found = await readSigningSecrets(secrets, namespace, spec.signing.secretRefs)
  if (found.kind === 'problem') return { ...found, kind: 'secret' }
  const policy = { egressAllow, signingSecrets: found.texts, quotas }
  await engine.write((compiler) => compiler.putTeam(namespace, policy))
  return { kind: 'applied' }
}

function egressProblem(allow: readonly string[]): string | null {
  for (const [index, entry] of allow.entries()) {
    const reason = egressEntryProblem(entry)
    if (reason !== null) return `spec.egress.allow[${index}] ${reason}`
  }
  return null
}

/** The CRD may be of a version before quotas and validate none of them. */
function quotaProblem(quotas: TeamQuotas): string | null {
  const wrong = QUOTA_NAMES.find((name) => quotas[name] !== null && !isQuota(quotas[name]))
  return wrong === undefined ? null : `spec.quotas.${wrong} must be a whole number from 0 on.`
}
