import type { CronSettings } from '../domain/crons/cron.ts'
import type { QueueSettings } from '../domain/jobs/queue-settings.ts'
import type { TeamQuotas } from '../domain/quotas.ts'

/** A queue that a manifest describes. */
export interface FolderQueue {
  readonly team: string
  readonly name: string
  readonly settings: QueueSettings
}

/** A cron that a manifest describes. */
export interface FolderCron {
  readonly team: string
  /** `metadata.name`. */
  readonly name: string
  readonly settings: CronSettings
}

/** What a team's TeamSettings come to, its secrets looked up. */
export interface TeamPolicy {
  readonly egressAllow: readonly string[]
  /** Newest first, at most two. */
  readonly signingSecrets: readonly string[]
  readonly quotas: TeamQuotas
}

export interface FolderTeam {
  readonly team: string
  readonly policy: TeamPolicy
}

/** A token that is taken for a team. */
export interface FolderToken {
  readonly team: string
  readonly name: string
  /** 64 lower-case hex digits. */
  readonly sha256Hex: string
}

/** What the folder says, as far as it is valid; in the order of teams, then of names. */
export interface FolderSnapshot {
  readonly queues: readonly FolderQueue[]
  readonly crons: readonly FolderCron[]
  readonly teams: readonly FolderTeam[]
  readonly tokens: readonly FolderToken[]
}

export const EMPTY_SNAPSHOT: FolderSnapshot = Object.freeze({ queues: [], crons: [], teams: [], tokens: [] })

/**
 * What differs from what was in force, to be applied in the order of the fields: what a call may reach, how it is
 * signed and whose tokens are taken first, then crons that are gone, the queues, the crons that may run through them;
 * queues that are gone last. What is named nowhere stays as it is: a team whose secret cannot be found, a queue that was
 * never a resource.
 */
export interface FolderChange {
  readonly teams: readonly FolderTeam[]
  readonly removedTeams: readonly string[]
  readonly removedTokens: ReadonlyArray<{ readonly team: string; readonly name: string }>
  readonly tokens: readonly FolderToken[]
  /** Their manifests are gone: they tick no more. */
  readonly removedCrons: ReadonlyArray<{ readonly team: string; readonly name: string }>
  readonly queues: readonly FolderQueue[]
  readonly crons: readonly FolderCron[]
  /** Their manifests are gone: the queues go, with all their jobs. */
  readonly removedQueues: ReadonlyArray<{ readonly team: string; readonly name: string }>
  /** All that is in force after it. */
  readonly snapshot: FolderSnapshot
}

/** What a change asked for and did not get, though all else of it is in force: by key (see `keysOf`), with the reason. */
export type Refusals = ReadonlyMap<string, Error>

export const NO_REFUSALS: Refusals = new Map()

export function queueKey(queue: { readonly team: string; readonly name: string }): string {
  return JSON.stringify([queue.team, queue.name])
}

export function cronKey(cron: { readonly team: string; readonly name: string }): string {
  return JSON.stringify(['HttpCron', cron.team, cron.name])
}

function tokenKey(token: { readonly team: string; readonly name: string }): string {
  return JSON.stringify(['ApiToken', token.team, token.name])
}

/**
 * @param unsure keys of teams, tokens, queues and crons (see `keysOf`) that may or may not be as `before` says: an earlier change
 * broke off. They are told again. `all`: nothing is known to be in force.
 */
export function changeBetween(
  before: FolderSnapshot,
  after: FolderSnapshot,
  unsure: ReadonlySet<string> | 'all',
): FolderChange {
  const isUnsure = (key: string) => unsure === 'all' || unsure.has(key)
  const queues = difference(before.queues, after.queues, queueKey, isUnsure)
  const crons = difference(before.crons, after.crons, cronKey, isUnsure)
  const teams = difference(before.teams, after.teams, (team) => team.team, isUnsure)
  const tokens = difference(before.tokens, after.tokens, tokenKey, isUnsure)
  return {
    teams: teams.changed,
    removedTeams: teams.removed.map((team) => team.team),
    removedTokens: tokens.removed.map(({ team, name }) => ({ team, name })),
    tokens: tokens.changed,
    removedCrons: crons.removed.map(({ team, name }) => ({ team, name })),
    queues: queues.changed,
    crons: crons.changed,
    removedQueues: queues.removed.map(({ team, name }) => ({ team, name })),
    snapshot: after,
  }
}

export function isEmptyChange(change: FolderChange): boolean {
  return keysOf(change).length === 0
}

/** The teams, tokens, queues and crons that a change touches. */
export function keysOf(change: FolderChange): readonly string[] {
  return [
    ...change.teams.map((team) => team.team),
    ...change.removedTeams,
    ...change.removedTokens.map(tokenKey),
    ...change.tokens.map(tokenKey),
    ...change.removedCrons.map(cronKey),
    ...change.queues.map(queueKey),
    ...change.crons.map(cronKey),
    ...change.removedQueues.map(queueKey),
  ]
}

/** What may be in force after a change broke off: the next change must undo what it does not want of it. */
export function withAttempt(before: FolderSnapshot, change: FolderChange): FolderSnapshot {
  return {
    queues: merged(before.queues, change.queues, queueKey),
    crons: merged(before.crons, change.crons, cronKey),
    teams: merged(before.teams, change.teams, (team) => team.team),
    tokens: merged(before.tokens, change.tokens, tokenKey),
  }
}

function merged<T>(before: readonly T[], changed: readonly T[], keyOf: (entry: T) => string): readonly T[] {
  return [...new Map([...before, ...changed].map((entry) => [keyOf(entry), entry])).values()]
}

function difference<T>(
  before: readonly T[],
  after: readonly T[],
  keyOf: (entry: T) => string,
  isUnsure: (key: string) => boolean,
): { readonly changed: readonly T[]; readonly removed: readonly T[] } {
  const old = new Map(before.map((entry) => [keyOf(entry), entry]))
  const kept = new Set(after.map(keyOf))
  return {
    changed: after.filter((entry) => {
      const key = keyOf(entry)
      return isUnsure(key) || JSON.stringify(entry) !== JSON.stringify(old.get(key))
    }),
    removed: before.filter((entry) => !kept.has(keyOf(entry))),
  }
}
