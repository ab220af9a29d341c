import type { AuditEntry, AuditOutcome, AuditRecord } from '../../domain/access/audit-record.ts'
import {
  AUDIT_ENTRIES_PER_SHARD_MIN,
  AUDIT_ENTRIES_PER_TEAM_MAX,
  AUDIT_RETENTION_DAYS,
} from '../../domain/limits.ts'
import type { Engine } from '../client/engine.ts'
import type { ShardKeys } from '../layout/keys.ts'

/** What a step needs to write the audit log beside its own change: the key `auditLog` and these arguments. */
export const AUDIT_ARGS = ['auditEntry', 'auditMax', 'auditMs'] as const

/** The first character of an entry; see audit_log.lua. */
export const OUTCOME_CODES: Readonly<Record<AuditOutcome, string>> = {
  done: 'd',
  refused: 'r',
  unknown: 'u',
}
const OUTCOMES = new Map(Object.entries(OUTCOME_CODES).map(([name, code]) => [code, name as AuditOutcome]))

const DAY_MS = 86_400_000
export const AUDIT_RETENTION_MS = AUDIT_RETENTION_DAYS * DAY_MS

/** The key and arguments of AUDIT_ARGS. @param change.entry null = nobody asked for the change */
export function audited(engine: Engine, keys: ShardKeys, { team, entry }: AuditedChange) {
  return {
    auditLog: keys.auditLog(team),
    auditEntry: entry === null ? '' : encodeAuditEntry(entry),
    auditMax: Math.max(
      AUDIT_ENTRIES_PER_SHARD_MIN,
      Math.ceil(AUDIT_ENTRIES_PER_TEAM_MAX / engine.shards.length),
    ),
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
]

function encodeAuditEntry({ actor, action, resource, before, after }: AuditEntry): string {
  const encoded: Encoded = [
    ...([actor.kind, actor.name, actor.via, actor.address, action] as const),
    ...([resource.kind, resource.id, resource.name, before, after] as const),
  ]
  return JSON.stringify(encoded)
}

/**
 * Reads an entry of the stream: an outcome, the time at which the change was asked for if that is not the entry's own, and
 * the array above. null when it is damaged.
 * @param id `<ms>-<number>`
 * @param lane number of the stream, which makes the id unique within a team
 */
export function decodeAuditEntry(id: string, lane: number, text: string): AuditRecord | null {
  const [, code = '', askedAt, json] = /^([dru])(\d{13})?(\[.*\])$/s.exec(text) ?? []
  const outcome = OUTCOMES.get(code)
  if (outcome === undefined || json === undefined) return null
  try {
    const [actorKind, actor, via, address, action, kind, resourceId, name, before, after] = JSON.parse(
      json,
    ) as Encoded
    return {
      id: `${id}-${lane}`,
      atMs: Number(askedAt ?? id.slice(0, id.indexOf('-'))),
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
