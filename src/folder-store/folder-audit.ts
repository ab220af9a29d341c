import type { Actor, AuditedResource, AuditEntry } from '../domain/access/audit-record.ts'
import { auditedChange } from '../domain/access/audited-fields.ts'
import { reasonOf } from '../domain/errors.ts'
import type { AuditLog } from '../ports/access/audit-log.ts'
import type { Logger } from '../ports/runtime.ts'
import { specOfCronSettings } from '../resources/cron-spec.ts'
import { specOfSettings } from '../resources/queue-spec.ts'
import { specOfToken } from '../resources/token-spec.ts'
import { specOfWindowSettings } from '../resources/window-spec.ts'
import {
  cronKey,
  EMPTY_SNAPSHOT,
  type FolderSnapshot,
  type FolderTeam,
  queueKey,
  type Refusals,
  tokenKey,
} from './folder-snapshot.ts'

/**
 * At most this many changes may wait to be written. When more come at once, for example because a folder is replaced,
 * the rest is only counted.
 */
const PENDING_MAX = 1_000
/** A file does not say who wrote it. */
const SOMEBODY: Actor = { kind: 'user', name: 'unknown', via: 'folder', address: null }
/** The name of every TeamSettings, of which a team has one. */
const TEAM_SETTINGS = 'team'

interface NotedChange {
  readonly team: string
  readonly entry: AuditEntry
  /** The key of what has changed, with its kind. */
  readonly key: string
  /** The new state as JSON; null = it was deleted. */
  readonly became: string | null
}

/**
 * Writes to the audit log what people change in the files of the folder, once it is applied. Owns the snapshot that the
 * log knows and the entries that are not written yet, which a stop drops. A process that dies between an entry and the
 * saved state writes the entry again at its next start.
 */
export class FolderAudit {
  readonly #auditLog: Pick<AuditLog, 'ask' | 'settle'>
  readonly #logger: Logger
  #known = EMPTY_SNAPSHOT
  #isKnown = false
  #pending: NotedChange[] = []
  /** By key, the state that edits of the API gave to things while those edits are not applied yet. */
  #own: ReadonlyMap<string, string | null> = new Map()
  #dropped = 0

  constructor(auditLog: Pick<AuditLog, 'ask' | 'settle'>, logger: Logger) {
    this.#auditLog = auditLog
    this.#logger = logger
  }

  /**
   * Takes over what the previous run applied. Without that nobody knows what has changed, so the first change is no
   * news.
   */
  start(applied: FolderSnapshot): void {
    this.#known = applied
    this.#isKnown = keysIn(applied) > 0
  }

  /** @param change.isOwn whether the API has changed the files, and writes the entry itself */
  note(applied: FolderSnapshot, change: { readonly refused: Refusals; readonly isOwn: boolean }): void {
    const former = this.#known
    // What was refused becomes news when it is applied.
    this.#known = {
      ...applied,
      queues: unlessRefused(former.queues, applied.queues, { refused: change.refused, keyOf: queueKey }),
      crons: unlessRefused(former.crons, applied.crons, { refused: change.refused, keyOf: cronKey }),
      tokens: unlessRefused(former.tokens, applied.tokens, { refused: change.refused, keyOf: tokenKey }),
    }
    const isNews = this.#isKnown && !change.isOwn
    this.#isKnown = true
    if (!isNews) return
    const own = this.#own
    this.#own = new Map()
    const news = changesBetween(former, this.#known).filter(({ key, became }) => own.get(key) !== became)
    const pending = [...this.#pending, ...news]
    this.#pending = pending.slice(0, PENDING_MAX)
    this.#dropped += pending.length - this.#pending.length
  }

  /**
   * Notes that the API has changed the files and could not apply them, which its own entry says. The next change that
   * is applied includes this one.
   */
  keepOwn(before: FolderSnapshot, after: FolderSnapshot): void {
    const own = changesBetween(before, after).map(({ key, became }) => [key, became] as const)
    this.#own = new Map([...this.#own, ...own])
  }

  /** Writes the entries. Those that cannot be written now wait for the next call. */
  async write(): Promise<void> {
    while (this.#pending[0] !== undefined) {
      const { team, entry } = this.#pending[0]
      try {
        const ticket = await this.#auditLog.ask(team, entry)
        this.#pending.shift()
        // Should this write fail, the outcome of the entry becomes unknown by itself.
        await this.#auditLog.settle(team, ticket, { entry, outcome: 'done' })
      } catch (error) {
        this.#logger.debug('The audit log cannot be written', { reason: reasonOf(error) })
        return
      }
    }
    if (this.#dropped === 0) return
    this.#logger.warn('Changes of manifests are missing from the audit log: too many at once', {
      count: this.#dropped,
    })
    this.#dropped = 0
  }
}

function keysIn({ queues, crons, teams, tokens, windows }: FolderSnapshot): number {
  return queues.length + crons.length + teams.length + tokens.length + windows.length
}

function unlessRefused<T>(
  former: readonly T[],
  applied: readonly T[],
  { refused, keyOf }: { readonly refused: Refusals; readonly keyOf: (one: T) => string },
): readonly T[] {
  return [
    ...applied.filter((one) => !refused.has(keyOf(one))),
    ...former.filter((one) => refused.has(keyOf(one))),
  ]
}

function changesBetween(before: FolderSnapshot, after: FolderSnapshot): NotedChange[] {
  const cronName = ({ settings }: FolderSnapshot['crons'][number]) => settings.displayName
  const ofTeams = ({ teams }: FolderSnapshot) => teams.map((one) => ({ ...one, name: TEAM_SETTINGS }))
  return [
    ...changesOf(ofTeams(before), ofTeams(after), { kind: 'team', fieldsOf: fieldsOfTeam }),
    ...changesOf(before.tokens, after.tokens, { kind: 'token', fieldsOf: specOfToken }),
    ...changesOf(before.windows, after.windows, {
      kind: 'window',
      fieldsOf: ({ settings }) => specOfWindowSettings(settings),
    }),
    ...changesOf(before.queues, after.queues, {
      kind: 'queue',
      fieldsOf: ({ settings }) => specOfSettings(settings),
    }),
    ...changesOf(before.crons, after.crons, {
      kind: 'cron',
      fieldsOf: ({ settings }) => specOfCronSettings(settings),
      shownName: cronName,
    }),
  ]
}

interface NotedKind<T> {
  readonly kind: AuditedResource['kind']
  readonly fieldsOf: (one: T) => object
  /** Answers the name by which the API speaks of it, if that is another one. */
  readonly shownName?: (one: T) => string
}

function changesOf<T extends { readonly team: string; readonly name: string }>(
  before: readonly T[],
  after: readonly T[],
  { kind, fieldsOf, shownName = ({ name }) => name }: NotedKind<T>,
): NotedChange[] {
  const keyOf = ({ team, name }: T) => JSON.stringify([team, name])
  const [was, is] = [before, after].map((all) => new Map(all.map((one) => [keyOf(one), one])))
  return [...new Set([...before, ...after].map(keyOf))].flatMap((key) => {
    const [former, now] = [was?.get(key), is?.get(key)]
    const one = now ?? former
    if (one === undefined || JSON.stringify(former) === JSON.stringify(now)) return []
    const action = former === undefined ? 'create' : now === undefined ? 'delete' : 'edit'
    return {
      team: one.team,
      key: JSON.stringify([kind, key]),
      became: now === undefined ? null : JSON.stringify(now),
      entry: {
        actor: SOMEBODY,
        action,
        resource: { kind, id: null, name: shownName(one) },
        ...fieldsChanged([former, now], fieldsOf),
      },
    }
  })
}

/**
 * If the changed fields of something cannot be worked out, the entry is written without them, and no other entry
 * suffers.
 */
function fieldsChanged<T>(
  sides: ReadonlyArray<T | undefined>,
  fieldsOf: (one: T) => object,
): Pick<AuditEntry, 'before' | 'after'> {
  try {
    const [before, after] = sides.map((side) => (side === undefined ? null : { ...fieldsOf(side) }))
    return auditedChange(before ?? null, after ?? null)
  } catch {
    return { before: null, after: null }
  }
}

/** Puts the values of secrets, among them the URLs of channels, into a field that the log shows as hidden. */
function fieldsOfTeam({ policy }: FolderTeam): object {
  const { egressAllow, signingSecrets, quotas, channels, members, appliedResources } = policy
  return {
    egressAllow,
    quotas,
    members,
    appliedResources,
    channels: channels.map(({ name, type, alertTypes }) => ({ name, type, alertTypes })),
    signingSecrets: signingSecrets.length,
    secret: [signingSecrets, channels.map(({ url }) => url)],
  }
}
