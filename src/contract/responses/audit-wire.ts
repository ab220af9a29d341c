import type { AuditRecord } from '../../domain/access/audit-record.ts'
import { formatTimestamp } from '../../domain/timestamp.ts'
import type { AuditRecord as WireRecord } from '../../../clients/typescript/src/generated/wire.ts'

export function toWireAuditRecord(record: AuditRecord): WireRecord {
  const { actor, resource, before, after } = record
  return {
    id: record.id,
    at: formatTimestamp(record.atMs),
    count: record.count,
    last_at: formatTimestamp(record.lastAtMs),
    ids: [...record.ids],
    actor: { kind: actor.kind, name: actor.name, address: actor.address },
    via: actor.via,
    action: record.action,
    resource: { kind: resource.kind, id: resource.id, name: resource.name },
    outcome: record.outcome,
    before,
    after,
  }
}
