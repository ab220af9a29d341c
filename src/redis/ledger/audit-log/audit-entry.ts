import { createHash } from 'node:crypto'
import {
  type AuditEntry,
  type AuditOutcome,
  type AuditRecord,
  likenessOf,
} from '../../../domain/access/audit-record.ts'
import { boundedEntry } from '../../../domain/access/audited-fields.ts'
import {
  AUDIT_ENTRIES_PER_SHARD_MAX,
  AUDIT_ENTRIES_PER_SHARD_MIN,
  AUDIT_ENTRIES_PER_TEAM_MAX,
  AUDIT_RETENTION_DAYS,
  AUDITED_LOGINS_PER_TEAM_MAX,
  AUDITED_SETTINGS_PER_TEAM_MAX,
} from '../../../domain/limits.ts'
import type { Engine } from '../../base/engine/engine.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'

/**
 * Arguments by which a step writes the audit log beside its own change; it also needs the keys `auditLog` and
 * `auditCounts`.
 */
export const AUDIT_ARGS = ['auditEntry', 'auditMax', 'auditMs'] as const

/** How a change ended that one step makes. */
export const DONE = Object.freeze({ outcome: 'done' as const })

/** The first character of an entry; see audit_log.lua. */
export const OUTCOME_CODES: Readonly<Record<AuditOutcome, string>> = {
  done: 'd',
  refused: 'r',
  unknown: 'u',
}
const OUTCOMES = new Map(Object.entries(OUTCOME_CODES).map(([name, code]) => [code, name as AuditOutcome]))

/** 72 bits; audit_log.lua knows both lengths. */
const HASH_CHARACTERS = 12
const ID_DIGITS = 16
const DAY_MS = 86_400_000
export const AUDIT_RETENTION_MS = AUDIT_RETENTION_DAYS * DAY_MS

/** A log of a team: neither can push out what another has. */
export type AuditRing = 'settings' | 'deeds' | 'sessions'

/** Kinds of which a token that may only operate can make thousands of entries a minute. */
const DEED_KINDS: ReadonlySet<string> = new Set([
  'job',
  'alert',
  'issue',
  'bulk',
] satisfies AuditEntry['resource']['kind'][])
const DEED_ACTIONS: ReadonlySet<string> = new Set(['run', 'test'] satisfies AuditEntry['action'][])

export function ringOf({ resource, action }: Pick<AuditEntry, 'resource' | 'action'>): AuditRing {
  if (resource.kind === 'session') return 'sessions'
  return DEED_KINDS.has(resource.kind) || DEED_ACTIONS.has(action) ? 'deeds' : 'settings'
}

/** The keys of a ring, and how many entries it keeps. */
export function ringKeys(engine: Pick<Engine, 'shards'>, keys: ShardKeys, ring: AuditRing, team: string) {
  if (ring === 'deeds') {
    const part = Math.ceil(AUDIT_ENTRIES_PER_TEAM_MAX / engine.shards.length)
    const auditMax = Math.min(Math.max(AUDIT_ENTRIES_PER_SHARD_MIN, part), AUDIT_ENTRIES_PER_SHARD_MAX)
    return { auditLog: keys.deedLog(team), auditCounts: keys.deedCounts(team), auditMax }
  }
  if (ring === 'sessions') {
    const auditMax = AUDITED_LOGINS_PER_TEAM_MAX
    return { auditLog: keys.sessionLog(team), auditCounts: keys.sessionCounts(team), auditMax }
  }
  const auditMax = AUDITED_SETTINGS_PER_TEAM_MAX
  return { auditLog: keys.auditLog(team), auditCounts: keys.auditCounts(team), auditMax }
}

/** The keys and arguments of AUDIT_ARGS. @param change.entry null = nobody asked for the change */
export function audited(engine: Engine, keys: ShardKeys, { team, entry }: AuditedChange) {
  return {
    ...ringKeys(engine, keys, entry === null ? 'deeds' : ringOf(entry), team),
    auditEntry: entry === null ? '' : encodeAuditEntry(entry),
    auditMs: AUDIT_RETENTION_MS,
  }
}

interface AuditedChange {
  readonly team: string
  readonly entry: AuditEntry | null
}

type Encoded = [
  actorKind: AuditEntry['actor']['kind'],
  actor: string,
  via: AuditEntry['actor']['via'],
  address: string | null,
  action: AuditEntry['action'],
  kind: AuditEntry['resource']['kind'],
  id: number | string | null,
  name: string | null,
  before: AuditEntry['before'],
  after: AuditEntry['after'],
  /** See `marksOf`. */
  marks: string,
]

function encodeAuditEntry(entry: AuditEntry): string {
  const { actor, action, resource, before, after } = boundedEntry(entry)
  const encoded: Encoded = [
    actor.kind,
    actor.name,
    actor.via,
    actor.address,
    action,
    resource.kind,
    resource.id,
    resource.name,
    before,
    after,
    marksOf(entry),
  ]
  return JSON.stringify(encoded)
}

/**
 * Marks of fixed length by which audit_log.lua finds an entry that is alike: the id of the resource where like changes
 * differ in it; a hash of what they share; a hash of what the entry is about where the order of such entries matters.
 */
function marksOf(entry: AuditEntry): string {
  const { kind, id, name } = entry.resource
  const one = DEED_KINDS.has(kind) && typeof id === 'number' ? String(id).padStart(ID_DIGITS, '0') : ''
  const about = ringOf(entry) === 'settings' ? hashOf([kind, id, name]) : ''
  return `~${one.padStart(ID_DIGITS, '-')}${hashOf(likenessOf(entry))}${about.padStart(HASH_CHARACTERS, '-')}`
}

function hashOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, HASH_CHARACTERS)
}

/**
 * Reads an entry of the stream: an outcome, the time at which the change was asked for if that is not the entry's own, and
 * the array above. null when it is damaged.
 * @param id `<ms>-<number>`
 * @param lane number of the stream, which makes the id unique within a team
 * @param counted what the hash beside the stream has of the entry; null = nothing
 */
export function decodeAuditEntry(
  id: string,
  { lane, text, counted }: { readonly lane: number; readonly text: string; readonly counted: string | null },
): AuditRecord | null {
  const [, code = '', askedAt, json] = /^([dru])(\d{13})?(\[.*\])$/s.exec(text) ?? []
  const outcome = OUTCOMES.get(code)
  if (outcome === undefined || json === undefined) return null
  try {
    const [actorKind, actor, via, address, action, kind, resourceId, name, before, after] = JSON.parse(
      json,
    ) as Encoded
    const atMs = Number(askedAt ?? id.slice(0, id.indexOf('-')))
    const [, count, lastAt, ids = ''] = /^(\d+) (\d+) (.*)$/.exec(counted ?? '') ?? []
    return {
      id: `${id}-${lane}`,
      atMs,
      count: Number(count ?? 1),
      lastAtMs: Math.max(atMs, Number(lastAt ?? 0)),
      ids: ids === '' ? [] : ids.split(',').map(Number),
      outcome,
      actor: { kind: actorKind, name: actor, via, address },
      action,
      resource: { kind, id: resourceId, name },
      before,
      after,
    }
  } catch {
    return null
  }
}
