import type { QueueSettings } from '../domain/queue-settings.ts'

/** A write by a leader whose term has passed changes nothing. */
export type CompileEnd<T> = T | { readonly status: 'superseded' }

export interface TeamPolicy {
  /** CIDRs and host suffixes. */
  readonly egressAllow: readonly string[]
  /** Newest first, at most two. */
  readonly signingSecrets: readonly string[]
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
  inForce(): Promise<{
    readonly teams: readonly string[]
    readonly tokens: ReadonlyArray<{ team: string; name: string }>
  }>
}

/** Which engine this is. */
export interface EngineFacts {
  /** Made with the data; another one = another or a wiped Redis. */
  readonly installation: string
  /** Rises with every term of a leader; lower than one seen before = an older copy was restored. */
  readonly term: number
}

export interface EngineTerms {
  facts(): Promise<EngineFacts>
  /** Begins a leader's term: from here on writes of former terms are refused, and those of this compiler taken. */
  begin(): Promise<{ readonly term: number; readonly compiler: SettingsCompiler }>
}
