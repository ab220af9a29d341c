import { crc32 } from 'node:zlib'
import { BULK_RETENTION_DAYS } from '../../../domain/limits.ts'
import { AUDIT_ARGS } from '../../audit-log/audit-entry.ts'
import { shardKeys, type Engine } from '../../client/engine.ts'
import { step } from '../../client/step.ts'
import type { ShardKeys } from '../../layout/keys.ts'

export const CREATE_BULK = step('create_bulk', import.meta.url, {
  keys: ['bulks', 'bulksDue', 'auditLog', 'auditCounts'],
  args: ['id', 'nonce', 'record', 'member', 'dueMs', 'runningMax', 'keptMax', 'keepSeconds', ...AUDIT_ARGS],
})
export const SET_BULK = step('set_bulk', import.meta.url, {
  keys: ['bulks', 'bulksDue', 'auditLog', 'auditCounts'],
  args: ['id', 'version', 'record', 'member', 'dueMs', 'keepSeconds', ...AUDIT_ARGS],
})
export const PUT_PART = step('put_part', import.meta.url, {
  keys: ['part', 'bulksDue'],
  args: ['member', 'dueMs', 'ids', 'keepSeconds'],
})
export const TAKE_TURN = step('take_turn', import.meta.url, {
  keys: ['bulkTurn'],
  args: ['holder', 'turnMs'],
})

/** Longer than a bulk is shown, so that a late message does not make a part of it anew. */
export const BULK_KEEP_SECONDS = (BULK_RETENTION_DAYS + 1) * 86_400

export interface BulkRef {
  readonly team: string
  readonly id: number
}

/** The shard that keeps the bulks of a team. */
export function homeOfBulks(engine: Engine, team: string): ShardKeys {
  return shardKeys(engine, crc32(team) % engine.shards.length)
}

/** Of the part of a bulk in `bulksDue`, and in the names of its keys; a team holds no slash. */
export function partMember({ team, id }: BulkRef): string {
  return `${team}/${id}`
}

/** Of the bulk as a whole in `bulksDue` of its home shard. */
export function wholeMember(ref: BulkRef): string {
  return `${partMember(ref)}/whole`
}

/** null for a member of another form, as a later version may write. */
export function memberIn(member: string): { readonly ref: BulkRef; readonly kind: 'part' | 'whole' } | null {
  const [, team, id, whole] = /^([^/]+)\/(\d{1,16})(\/whole)?$/.exec(member) ?? []
  if (team === undefined) return null
  return { ref: { team, id: Number(id) }, kind: whole === undefined ? 'part' : 'whole' }
}
