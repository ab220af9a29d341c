import type { ApiToken } from '../domain/access/api-token.ts'
import type { Principal } from '../domain/access/principal.ts'
import type { CronSettings } from '../domain/crons/cron.ts'
import type { QueueSettings } from '../domain/jobs/queue-settings.ts'
import type { AppliedResources, ManagedBy } from '../domain/managed-by.ts'
import type { Channel, Member } from '../domain/notifications/channel.ts'
import type { MaintenanceWindow } from '../domain/windows/maintenance-window.ts'
import type { HeaderSecret } from '../domain/secrets/header-secret.ts'
import { NO_QUOTAS, type TeamQuotas } from '../domain/quotas.ts'
import type { NamespaceCompiler } from './access/namespaces.ts'
import type { OwnSecretsCompiler } from './access/own-secrets.ts'

/** Finds who manages the resources of queues and crons. Never throws: what cannot be found out now is null. */
export interface ManagedResources {
  /** The name of a queue's resource and who manages it; null = it has none. */
  ofQueue(team: string, queue: string): { readonly name: string; readonly managedBy: ManagedBy | null } | null
  /** @param name of the resource */
  ofCron(team: string, name: string): Promise<ManagedBy | null>
}

/** The compiled settings of a team; a change is applied everywhere within 2 s. */
export interface TeamSettings {
  /** Rises with every change; connections are not shared between two versions. */
  readonly version: number
  /** CIDRs and host suffixes beyond the public Internet. */
  readonly egressAllow: readonly string[]
  /** `whsec_…` or plain text as configured, newest first, at most two; none in a process that opens no secrets. */
  readonly signingSecrets: readonly string[]
  /** The signing secrets cannot be opened: calls without a signature of them must not be made. */
  readonly isSigningUnreadable?: boolean
  /** Places of the signing secrets, in the same order, by `signingSecretId`; known to every process. */
  readonly signingSecretIds: readonly string[]
  /** At most HEADER_SECRETS_PER_TEAM_MAX. Without values in processes that open no secrets. */
  readonly headerSecrets: readonly HeaderSecret[]
  /** The team's own; those of the installation apply as well. */
  readonly quotas: TeamQuotas
  /** How the team is told of its alerts; at most CHANNELS_PER_TEAM_MAX. Without URLs where no secrets are opened. */
  readonly channels: readonly Channel[]
  /** Members who get its e-mails; at most MEMBERS_PER_TEAM_MAX. */
  readonly members: readonly Member[]
  /** Absent: as the installation says. */
  readonly appliedResources?: AppliedResources
  /** Names of further secret headers, in lower case; at most MASKED_HEADERS_PER_TEAM_MAX. Absent: none. */
  readonly maskedHeaders?: readonly string[]
}

const NO_MASKED_HEADERS: ReadonlySet<string> = new Set()

export function maskedHeadersOf({ maskedHeaders }: TeamSettings): ReadonlySet<string> {
  return maskedHeaders === undefined ? NO_MASKED_HEADERS : new Set(maskedHeaders)
}

export const NO_TEAM_SETTINGS: TeamSettings = Object.freeze({
  version: 0,
  egressAllow: Object.freeze([]),
  signingSecrets: Object.freeze([]),
  signingSecretIds: Object.freeze([]),
  headerSecrets: Object.freeze([]),
  quotas: NO_QUOTAS,
  channels: Object.freeze([]),
  members: Object.freeze([]),
})

/** Answers from memory and refreshes in the background, so that it works while the source is unavailable. */
export interface TeamSettingsSource {
  of(team: string): TeamSettings
}

export interface BoundedTeamsSource extends TeamSettingsSource {
  /** Teams with their own quota of calls in flight. */
  boundedTeams(): readonly string[]
}

export interface NotifiedTeamsSource extends TeamSettingsSource {
  /** Teams with channels; the same array while no settings change. */
  notifiedTeams(): readonly string[]
}

/** Finds whose a bearer token is. Answers from memory and compares only hashes. */
export interface TokenVerifier {
  /** null = unknown token. One that has expired is still known; see `terms`. */
  principalOf(token: string): Principal | null
}

/** `superseded`: nothing was written, because another leader epoch has begun or Redis has lost this one. */
export type CompileEnd<T> = T | { readonly status: 'superseded' }

/** The part of a token that processes need to know. */
export type CompiledToken = Pick<ApiToken, 'team' | 'name' | 'sha256Hex' | 'terms'>

export interface TeamPolicy {
  /** CIDRs and host suffixes. */
  readonly egressAllow: readonly string[]
  /** Newest first, at most two. */
  readonly signingSecrets: readonly string[]
  /** Places of the signing secrets, as in `TeamSettings`; absent if nobody asks. */
  readonly signingSecretIds?: readonly string[]
  readonly headerSecrets?: readonly HeaderSecret[]
  /** Absent if the team has none of its own. */
  readonly quotas?: TeamQuotas
  /** Channels that can be used; the others are left out. */
  readonly channels?: readonly Channel[]
  readonly members?: readonly Member[]
  readonly appliedResources?: AppliedResources | undefined
  /** In lower case. */
  readonly maskedHeaders?: readonly string[]
}

/** @property unopened whose secrets no key here opens: `team shop`, `cron nightly of team shop` */
export interface SealedAnew {
  readonly status: 'sealed'
  readonly unopened: readonly string[]
}

/** Applies maintenance windows to the engine, as `SettingsCompiler` does. */
export interface WindowCompiler {
  /** Creates or changes it. */
  putWindow(window: MaintenanceWindow): Promise<CompileEnd<{ readonly status: 'applied' }>>
  removeWindow(team: string, name: string): Promise<CompileEnd<{ readonly status: 'removed' }>>
}

/** Parts of the cluster whose addresses jobs may not call and only the controller can find. */
export const OWN_ADDRESSES_OF = ['apiServer', 'pods'] as const
export type OwnAddressesOf = (typeof OWN_ADDRESSES_OF)[number]

/**
 * Applies settings to the engine, where the API and the executors read them. Writes are idempotent, and settings that
 * are already applied cause no write. Throws StoreUnavailableError.
 */
export interface SettingsCompiler extends WindowCompiler, OwnSecretsCompiler, NamespaceCompiler {
  /** Creates or changes the queue; one that a push created keeps its id and its jobs. */
  applyQueue(
    team: string,
    name: string,
    settings: QueueSettings,
  ): Promise<CompileEnd<{ readonly status: 'applied'; readonly queueId: number }>>
  /** Removes the queue, its jobs and its own secrets. */
  removeQueue(team: string, name: string): Promise<CompileEnd<{ readonly status: 'removed' | 'not_found' }>>
  /** Creates or changes the cron, as `CronStore.apply` does. */
  applyCron(
    team: string,
    name: string,
    settings: CronSettings,
    formerId?: number | null,
  ): Promise<
    CompileEnd<{ readonly status: 'applied'; readonly cronId: number; readonly nextRunAtMs: number | null }>
  >
  removeCron(team: string, name: string): Promise<CompileEnd<{ readonly status: 'removed' | 'not_found' }>>
  putTeam(team: string, policy: TeamPolicy): Promise<CompileEnd<{ readonly status: 'applied' }>>
  removeTeam(team: string): Promise<CompileEnd<{ readonly status: 'removed' }>>
  /**
   * Replaces a former token of the same name. `taken`: its hash belongs to another team, which has it or had it until it
   * was revoked; then no token has this name any more.
   * @param claim `free` (the default): a hash that no team had becomes this team's; `none`: it counts as taken
   */
  putToken(
    token: CompiledToken,
    claim?: 'free' | 'none',
  ): Promise<CompileEnd<{ readonly status: 'applied' | 'taken' }>>
  /** Removes the token. Its hash remains the team's, so that it never becomes a token of another team. */
  removeToken(team: string, name: string): Promise<CompileEnd<{ readonly status: 'removed' }>>
  /** @param addresses canonical texts, in place of those that were put last */
  putOwnAddresses(
    of: OwnAddressesOf,
    addresses: readonly string[],
  ): Promise<CompileEnd<{ readonly status: 'applied' }>>
  /** Seals under the first key what lies there under another, also where the Secret it came from is gone. */
  sealAnew(): Promise<CompileEnd<SealedAnew>>
  /** The teams, tokens and windows that are applied, without the token of PUNCTUAL_TOKEN. */
  applied(): Promise<{
    readonly teams: readonly string[]
    readonly windows: ReadonlyArray<{ team: string; name: string }>
    readonly tokens: ReadonlyArray<{ team: string; name: string }>
  }>
}

/** Numbers above all that were assigned when this was read and for a long time after; ids may begin here after a loss. */
export interface IdFloor {
  readonly jobBlock: number
  readonly queue: number
  readonly token: number
}

/**
 * Identifies the data in Redis. Recorded outside of Redis, it reveals data that was wiped, replaced or restored.
 * `idFloor` rises in large steps, days apart even under load, so that it is rarely recorded.
 */
export interface EngineFacts {
  /** Created with the data: another one means that Redis was replaced or wiped. */
  readonly installation: string
  /** The leader epoch: lower than the recorded one means that an older copy was restored or some data was lost. */
  readonly epoch: number
  readonly idFloor: IdFloor
}

/** Throws StoreUnavailableError. */
export interface LeaderEpochs {
  /** Creates a new installation in an empty Redis. */
  facts(): Promise<EngineFacts>
  /**
   * Begins a new epoch: from then on Redis refuses writes of former epochs and accepts those of this compiler.
   * @param earlier the recorded facts; if Redis holds other or older data, the epoch rises above theirs and new ids
   * begin at their floor, so that no id is assigned twice
   * @returns the facts to be recorded
   */
  begin(
    earlier?: EngineFacts | null,
  ): Promise<{ readonly facts: EngineFacts; readonly compiler: SettingsCompiler }>
}
