import { signingSecretId } from '../../domain/access/signing-secret.ts'
import { egressEntryProblem } from '../../domain/net/egress-list.ts'
import { quotasOf, type TeamQuotas } from '../../domain/quotas.ts'
import type { ObjectKey, Reconciler, SecretReader } from '../../ports/kubernetes.ts'
import type { EgressBounds, EgressPolicy } from '../../ports/http-caller.ts'
import type { TeamUsage } from '../../ports/quotas.ts'
import { NO_TEAM_SETTINGS } from '../../ports/settings.ts'
import { isDeleted } from '../../resources/finalizers.ts'
import { headerSecretPlansOf, maskedHeadersOf } from '../../resources/secret-refs.ts'
import { parseKey } from '../../resources/queue-owner.ts'
import {
  appliedResourcesOf,
  channelPlansOf,
  membersOf,
  withoutChannelHosts,
} from '../../resources/team-channels.ts'
import { keyOf, TEAM_SETTINGS_NAME, type TeamSettings } from '../kinds.ts'
import type { ReconcilerParts } from '../reconcile/reconciler-parts.ts'
import { CHANGE_PENDING, StatusWriter } from '../reconcile/status-writer.ts'
import { isDeletionConfirmed } from './confirmed-deletion.ts'
import type { SecretPolls } from '../secrets/secret-polls.ts'
import { SecretValues } from '../secrets/secret-values.ts'
import { readSigningSecrets } from '../secrets/signing-secrets.ts'
import { readHeaderSecrets } from './team-header-secrets.ts'
import { readChannels, type ChannelProblem } from './team-channels.ts'
import { teamStatus, type TeamOutcome } from './team-status.ts'

export interface TeamReconcilerParts extends ReconcilerParts<TeamSettings> {
  readonly secrets: SecretReader
  readonly polls: SecretPolls
  /** Answers how many pushed queues get no resource because the namespace has too many. */
  readonly waitingOf: (namespace: string) => number
  /** Answers the usage that the status is to show; null = it is not known yet. */
  readonly usageOf: (key: ObjectKey) => TeamUsage | null
  /** Answers the channels that cannot be told at present; null = they are not known yet. */
  readonly failingOf: (key: ObjectKey) => readonly ChannelProblem[] | null
  /** The quotas of the installation. */
  readonly quotas: TeamQuotas
  readonly egress: EgressPolicy & EgressBounds
}

/** Keys are `namespace/name`. */
export function createTeamReconciler(parts: TeamReconcilerParts): Reconciler {
  const { informer, engine } = parts
  const status = new StatusWriter<TeamSettings, TeamOutcome>({
    ...parts,
    kind: 'TeamSettings',
    action: 'ApplyTeamSettings',
    pending: () => CHANGE_PENDING,
    statusOf: (settings, outcome) =>
      teamStatus(settings, outcome, {
        waiting: parts.waitingOf(settings.metadata.namespace),
        installation: parts.quotas,
        usage: parts.usageOf(keyOf(settings)),
        failing: parts.failingOf(keyOf(settings)),
        wallMs: parts.clock.wallMs(),
      }),
  })
  return {
    reconcile: async (key) => {
      const settings = informer.get(key)
      if (settings === undefined || isDeleted(settings)) {
        parts.polls.note({ kind: 'TeamSettings', key }, 0)
        const { team, name } = parseKey(key)
        // If the settings were removed by mistake, the team's calls would go unsigned.
        if (name === TEAM_SETTINGS_NAME && (await isDeletionConfirmed(parts.writer, key))) {
          await engine.write((compiler) => compiler.removeTeam(team))
        }
        return { requeueAfterMs: null }
      }
      await status.report(settings, () => applySettings(parts, settings))
      return { requeueAfterMs: parts.polls.note({ kind: 'TeamSettings', key }, secretsOf(settings)) }
    },
  }
}

/** Counts the Secrets that the settings name. */
function secretsOf({ spec }: TeamSettings): number {
  const ofHeaders = headerSecretPlansOf(spec).map(({ secretKeyRef }) => secretKeyRef)
  const ofChannels = channelPlansOf(spec).flatMap(({ secretRef }) => secretRef ?? [])
  return new Set([...spec.signing.secretRefs, ...ofHeaders, ...ofChannels].map(({ name }) => name)).size
}

async function applySettings(
  { engine, secrets: reader, egress }: TeamReconcilerParts,
  { metadata: { namespace }, spec }: TeamSettings,
): Promise<TeamOutcome> {
  const egressAllow = spec.egress.allow
  const quotas = quotasOf(spec.quotas)
  const problem = egressProblem(egressAllow)
  if (problem !== null) return { kind: 'refused', problem }
  const secrets = new SecretValues(reader, namespace)
  const found = await readSigningSecrets(secrets, spec.signing.secretRefs)
  if (found.kind === 'problem') return { ...found, kind: 'secret' }
  const { channels, problems } = await readChannels(secrets, channelPlansOf(spec), {
    egressAllow,
    isBlocked: (url) => egress.refusalOf(url, { ...NO_TEAM_SETTINGS, egressAllow }) !== null,
  })
  const { headerSecrets, problems: headerProblems } = await readHeaderSecrets(
    secrets,
    headerSecretPlansOf(spec),
  )
  const policy = {
    egressAllow,
    quotas,
    channels,
    members: membersOf(spec),
    signingSecrets: found.texts,
    signingSecretIds: spec.signing.secretRefs.map(signingSecretId),
    headerSecrets,
    appliedResources: appliedResourcesOf(spec),
    maskedHeaders: maskedHeadersOf(spec),
  }
  await engine.write((compiler) => compiler.putTeam(namespace, policy))
  const ineffective = withoutChannelHosts(egress.ineffectiveEntries(egressAllow), channels)
  return { kind: 'applied', channelProblems: problems, headerProblems, ineffective }
}

function egressProblem(allow: readonly string[]): string | null {
  for (const [index, entry] of allow.entries()) {
    const reason = egressEntryProblem(entry)
    if (reason !== null) return `spec.egress.allow[${index}] ${reason}`
  }
  return null
}
