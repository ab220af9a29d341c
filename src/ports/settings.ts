import type { CronSettings } from '../domain/crons/cron.ts'
import type { QueueSettings } from '../domain/jobs/queue-settings.ts'
import { NO_QUOTAS, type TeamQuotas } from '../domain/quotas.ts'

/** What a team may reach beyond the public Internet, its signing secrets and its quotas; compiled, in force within 2 s. */
export interface TeamSettings {
  /** Rises with every change; connections are not shared between two versions. */
  readonly version: number
  readonly egressAllow: readonly string[]
  /** `whsec_…` or plain text as configured, newest first, at most two. */
  readonly signingSecrets: readonly string[]
  /** The team's own; the installation's count beside them. */
  readonly quotas: TeamQuotas
}

export const NO_TEAM_SETTINGS: TeamSettings = Object.freeze({
  version: 0,
  egressAllow: Object.freeze([]),
  signingSecrets: Object.freeze([]),
  quotas: NO_QUOTAS,
})

/** Answers from memory; a refresh runs behind it, so it goes on when the source is away. */
export interface TeamSettingsSource {
  of(team: string): TeamSettings
}

export interface BoundedTeamsSource extends TeamSettingsSource {
  /** Teams that have a quota of calls in flight of their own. */
  boundedTeams(): readonly string[]
}

/** Finds the team of a bearer token. Answers from memory and compares hashes, never texts. */
export interface TokenVerifier {
  /** null when the token is not known. */
  teamOf(token: string): string | null
}

/** A write changes nothing when the epoch of its leader has passed, or is not known there any more. */
export type CompileEnd<T> = T | { readonly status: 'superseded' }

export interface TeamPolicy {
  /** CIDRs and host suffixes. */
  readonly egressAllow: readonly string[]
  /** Newest first, at most two. */
  readonly signingSecrets: readonly string[]
  /** Left out where the team has none of its own. */
  readonly quotas?: TeamQuotas
}

/**
 * Puts compiled resources in force in the engine, where the API and the executors read them. Each write is done once
 * however often it is sent; what is in force already is not written. Throws StoreUnavailableError.
 */
export interface SettingsCompiler {
  /** Makes or changes the queue; one that a push has made keeps its id and its jobs. */
  applyQueue(
    team: string,
    name: string,
    settings: QueueSettings,
  ): Promise<CompileEnd<{ readonly status: 'applied'; readonly queueId: number }>>
  /** Removes the queue and its jobs. */
  removeQueue(team: string, name: string): Promise<CompileEnd<{ readonly status: 'removed' | 'not_found' }>>
  /** Makes or changes the cron, as `CronStore.apply` does. */
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
  /** Makes this the token of that name in that team; a former one is no longer accepted. @param sha256Hex of the token's bytes */
  putTokenHash(
    team: string,
    name: string,
    sha256Hex: string,
  ): Promise<CompileEnd<{ readonly status: 'applied' }>>
  removeToken(team: string, name: string): Promise<CompileEnd<{ readonly status: 'removed' }>>
  /** What is in force now, to find what has no resource any more. Names of PUNCTUAL_TOKEN are not among them. */
  applied(): Promise<{
    readonly teams: readonly string[]
    readonly tokens: ReadonlyArray<{ team: string; name: string }>
  }>
}

/** Numbers that were not yet given when it was read, nor for a long time after: later data may begin with them. */
export interface IdFloor {
  readonly jobBlock: number
  readonly queue: number
  readonly token: number
}

/**
 * Which engine this is. Written down outside of Redis, and again whenever it differs, it tells wiped, other and
 * restored data from what was known. `idFloor` rises in large steps: days lie between two under load.
 */
export interface EngineFacts {
  /** Made with the data; another one = another or a wiped Redis. */
  readonly installation: string
  /** Rises with every epoch of a leader; lower than one seen before = an older copy was restored, or a part was lost. */
  readonly epoch: number
  readonly idFloor: IdFloor
}

/** Throws StoreUnavailableError. */
export interface LeaderEpochs {
  /** Of a Redis that was emptied: those of the new installation, which is made by this. */
  facts(): Promise<EngineFacts>
  /**
   * Begins a leader's epoch: from here on writes of former epochs are refused, and those of this compiler taken.
   * @param earlier what was written down last; when Redis is another one or an older copy, the epoch rises above that
   * one's and new ids begin at its floor, so that none comes twice
   * @returns the facts as they are now, to be written down
   */
  begin(
    earlier?: EngineFacts | null,
  ): Promise<{ readonly facts: EngineFacts; readonly compiler: SettingsCompiler }>
}
