import type { ApiToken } from '../domain/access/api-token.ts'
import type { CronSettings } from '../domain/crons/cron.ts'
import type { QueueSettings } from '../domain/jobs/queue-settings.ts'
import { NO_OWN_SECRETS, type OwnSecrets, type SecretOwner } from '../ports/access/own-secrets.ts'
import type { TeamPolicy as CompiledPolicy } from '../ports/settings.ts'
import type { WindowSettings } from '../domain/windows/maintenance-window.ts'

export interface FolderQueue {
  readonly team: string
  readonly name: string
  readonly settings: QueueSettings
}

export interface FolderCron {
  readonly team: string
  /** `metadata.name`. */
  readonly name: string
  readonly settings: CronSettings
}

/** A team's TeamSettings, with the values of its secrets. */
export type TeamPolicy = Required<CompiledPolicy>

export interface FolderTeam {
  readonly team: string
  readonly policy: TeamPolicy
}

export interface FolderWindow {
  readonly team: string
  /** `metadata.name`. */
  readonly name: string
  readonly settings: WindowSettings
}

/** What the calls of a queue or cron take from Secrets. */
export interface FolderSecrets {
  readonly owner: SecretOwner
  readonly secrets: OwnSecrets
}

/** The valid resources of the folder, by team and name. */
export interface FolderSnapshot {
  readonly queues: readonly FolderQueue[]
  readonly crons: readonly FolderCron[]
  readonly teams: readonly FolderTeam[]
  readonly tokens: readonly ApiToken[]
  readonly windows: readonly FolderWindow[]
  /** The secrets of queues and crons that have any. */
  readonly secrets: readonly FolderSecrets[]
}

export const EMPTY_SNAPSHOT: FolderSnapshot = Object.freeze({
  queues: [],
  crons: [],
  teams: [],
  tokens: [],
  windows: [],
  secrets: [],
})

/**
 * The difference from the applied snapshot. Its fields are applied in their order: first what calls may reach, how they
 * are signed and which tokens are valid; then what waits or is muted, removed crons, queues, and the crons that may use
 * them; removed queues last. What a change does not name stays as it is, such as a team with an unusable secret or a
 * queue that was never a resource.
 */
export interface FolderChange {
  readonly teams: readonly FolderTeam[]
  readonly removedTeams: readonly string[]
  /** A queue or cron that has no secrets any more is listed with none. */
  readonly secrets: readonly FolderSecrets[]
  readonly removedTokens: readonly Named[]
  readonly tokens: readonly ApiToken[]
  readonly windows: readonly FolderWindow[]
  readonly removedWindows: readonly Named[]
  readonly removedCrons: readonly Named[]
  readonly queues: readonly FolderQueue[]
  readonly crons: readonly FolderCron[]
  /** The queues are removed with all their jobs. */
  readonly removedQueues: readonly Named[]
  /** Everything that is in force after the change. */
  readonly snapshot: FolderSnapshot
}

/** By key (see `keysOf`), why that part of a change was refused while the rest was applied. */
export type Refusals = ReadonlyMap<string, Error>

export const NO_REFUSALS: Refusals = new Map()

interface Named {
  readonly team: string
  readonly name: string
}

export function queueKey(queue: Named): string {
  return JSON.stringify([queue.team, queue.name])
}

export function cronKey(cron: Named): string {
  return JSON.stringify(['HttpCron', cron.team, cron.name])
}

export function tokenKey(token: Named): string {
  return JSON.stringify(['ApiToken', token.team, token.name])
}

export function windowKey(window: Named): string {
  return JSON.stringify(['MaintenanceWindow', window.team, window.name])
}

export function secretsKey({ owner: { team, kind, name } }: Pick<FolderSecrets, 'owner'>): string {
  return JSON.stringify(['Secrets', team, kind, name])
}

/**
 * @param uncertain keys (see `keysOf`) that may differ from `before` because a change was interrupted or refused, so
 * that they are part of the change again. `all`: nothing is known to be applied.
 */
export function changeBetween(
  before: FolderSnapshot,
  after: FolderSnapshot,
  uncertain: ReadonlySet<string> | 'all',
): FolderChange {
  const isUncertain = (key: string) => uncertain === 'all' || uncertain.has(key)
  const queues = difference(before.queues, after.queues, queueKey, isUncertain)
  const crons = difference(before.crons, after.crons, cronKey, isUncertain)
  const secrets = difference(before.secrets ?? [], after.secrets ?? [], secretsKey, isUncertain)
  const teams = difference(before.teams, after.teams, (team) => team.team, isUncertain)
  const tokens = difference(before.tokens, after.tokens, tokenKey, isUncertain)
  const windows = difference(before.windows, after.windows, windowKey, isUncertain)
  return {
    teams: teams.changed,
    removedTeams: teams.removed.map((team) => team.team),
    secrets: [
      ...secrets.changed,
      ...secrets.removed.map(({ owner }) => ({ owner, secrets: NO_OWN_SECRETS })),
    ],
    removedTokens: tokens.removed.map(({ team, name }) => ({ team, name })),
    tokens: tokens.changed,
    windows: windows.changed,
    removedWindows: windows.removed.map(({ team, name }) => ({ team, name })),
    removedCrons: crons.removed.map(({ team, name }) => ({ team, name })),
    queues: queues.changed,
    crons: crons.changed,
    removedQueues: queues.removed.map(({ team, name }) => ({ team, name })),
    snapshot: after,
  }
}

/** Lists the keys of everything that a change names. */
export function keysOf(change: FolderChange): readonly string[] {
  return [
    ...change.teams.map((team) => team.team),
    ...change.removedTeams,
    ...change.secrets.map(secretsKey),
    ...change.removedTokens.map(tokenKey),
    ...change.tokens.map(tokenKey),
    ...change.windows.map(windowKey),
    ...change.removedWindows.map(windowKey),
    ...change.removedCrons.map(cronKey),
    ...change.queues.map(queueKey),
    ...change.crons.map(cronKey),
    ...change.removedQueues.map(queueKey),
  ]
}

/** Answers what may be applied after an interrupted change, so that the next change undoes what it does not want. */
export function withInterrupted(before: FolderSnapshot, change: FolderChange): FolderSnapshot {
  return {
    queues: merged(before.queues, change.queues, queueKey),
    crons: merged(before.crons, change.crons, cronKey),
    teams: merged(before.teams, change.teams, (team) => team.team),
    tokens: merged(before.tokens, change.tokens, tokenKey),
    windows: merged(before.windows, change.windows, windowKey),
    secrets: merged(before.secrets ?? [], change.secrets, secretsKey),
  }
}

/**
 * Answers what is applied after a change. A removal that has failed has removed nothing, so the next change names it
 * again.
 */
export function withFailedRemovals(
  before: FolderSnapshot,
  after: FolderSnapshot,
  failed: Refusals,
): FolderSnapshot {
  const keep = <T>(former: readonly T[], now: readonly T[], keyOf: (entry: T) => string): readonly T[] => {
    const known = new Set(now.map(keyOf))
    return [...now, ...former.filter((one) => failed.has(keyOf(one)) && !known.has(keyOf(one)))]
  }
  if (failed.size === 0) return after
  return {
    queues: keep(before.queues, after.queues, queueKey),
    crons: keep(before.crons, after.crons, cronKey),
    teams: keep(before.teams, after.teams, (team) => team.team),
    tokens: keep(before.tokens, after.tokens, tokenKey),
    windows: keep(before.windows, after.windows, windowKey),
    secrets: keep(before.secrets ?? [], after.secrets ?? [], secretsKey),
  }
}

function merged<T>(before: readonly T[], changed: readonly T[], keyOf: (entry: T) => string): readonly T[] {
  return [...new Map([...before, ...changed].map((entry) => [keyOf(entry), entry])).values()]
}

function difference<T>(
  before: readonly T[],
  after: readonly T[],
  keyOf: (entry: T) => string,
  isUncertain: (key: string) => boolean,
): { readonly changed: readonly T[]; readonly removed: readonly T[] } {
  const old = new Map(before.map((entry) => [keyOf(entry), entry]))
  const kept = new Set(after.map(keyOf))
  return {
    changed: after.filter((entry) => {
      const key = keyOf(entry)
      return isUncertain(key) || JSON.stringify(entry) !== JSON.stringify(old.get(key))
    }),
    removed: before.filter((entry) => !kept.has(keyOf(entry))),
  }
}
