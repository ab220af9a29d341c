import type { AuditEntry } from '../../domain/access/audit-record.ts'
import {
  AUDIT_ENTRIES_PER_SHARD_MIN,
  AUDIT_ENTRIES_PER_TEAM_MAX,
  AUDIT_RETENTION_DAYS,
} from '../../domain/limits.ts'
import type { Engine } from '../client/engine.ts'
import type { ShardKeys } from '../layout/keys.ts'

/** What a step needs to write the audit log beside its own change: the key `auditLog` and these arguments. */
export const AUDIT_ARGS = ['auditEntry', 'auditMax', 'auditMs'] as const

const DAY_MS = 86_400_000

/** The key and arguments of AUDIT_ARGS. @param change.entry null = nobody asked for the change */
export function audited(engine: Engine, keys: ShardKeys, { team, entry }: AuditedChange) {
  return {
    auditLog: keys.auditLog(team),
    auditEntry: entry === null ? '' : encodeAuditEntry(entry),
    auditMax: Math.max(
      AUDIT_ENTRIES_PER_SHARD_MIN,
      Math.ceil(AUDIT_ENTRIES_PER_TEAM_MAX / engine.shards.length),
    ),
    auditMs: AUDIT_RETENTION_DAYS * DAY_MS,
  }
}

interface AuditedChange {
  readonly team: string
  readonly entry: AuditEntry | null
}

export function encodeAuditEntry({ actor, action, resource, before, after }: AuditEntry): string {
  return JSON.stringify([
    ...[actor.kind, actor.name, actor.via, actor.address, action],
    ...[resource.kind, resource.id, resource.name, before, after],
  ])
}
