import { crc32 } from 'node:zlib'
import { BULK_RETENTION_DAYS } from '../../../../domain/limits.ts'
import { AUDIT_ARGS } from '../../../ledger/audit-log/audit-entry.ts'
import { shardKeys, type Engine } from '../../../base/engine/engine.ts'
import { step } from '../../../base/engine/step.ts'
import type { ShardKeys } from '../../../base/layout/keys.ts'

export const CREATE_BULK = step('create_bulk', import.meta.url, {
  keys: ['bulks', 'bulksDue', 'auditLog', 'auditCounts'],
  args: ['id', 'nonce', 'record', 'member', 'dueMs', 'runningMax', 'keptMax', 'keepSeconds', ...AUDIT_ARGS],
})
export const SET_BULK = step('set_bulk', import.meta.url, {
  keys: ['bulks', 'bulksDue', 'auditLog', 'auditCounts'],
  args: ['id', 'version', 'record', 'member', 'dueMs', 'runningMax', 'keepSeconds', ...AUDIT_ARGS],
})
export const PUT_PART = step('put_part', import.meta.url, {
  keys: ['part', 'bulksDue'],
  args: ['member', 'dueMs', 'ids', 'keepSeconds'],
})
export const RESUME_PART = step('resume_part', import.meta.url, {
  keys: ['part', 'bulksDue'],
  args: ['member', 'dueMs', 'resumes', 'keepSeconds'],
})
export const COUNT_OUTCOME = step('count_outcome', import.meta.url, {
  keys: ['part', 'bulkWaiting', 'bulksDue'],
  args: [
    'member',
    'version',
    'looked',
    'succeeded',
    'failedAgain',
    'removed',
    'waiting',
    'looksMax',
    'dueMs',
    'restMs',
    'keepSeconds',
  ],
})

/** Longer than a bulk is shown, so that a late message does not make a part of it again. */
export const BULK_KEEP_SECONDS = (BULK_RETENTION_DAYS + 1) * 86_400

export interface BulkRef {
  readonly team: string
  readonly id: number
}

/** The shard that keeps the bulks of a team. */
export function homeOfBulks(engine: Engine, team: string): ShardKeys {
  return shardKeys(engine, crc32(team) % engine.shards.length)
}

/** Names the part of a bulk in `bulksDue` and in its keys. A team holds no slash. */
export function partMember({ team, id }: BulkRef): string {
  return `${team}/${id}`
}

/** Names the bulk as a whole in `bulksDue` of its home shard. */
export function wholeMember(ref: BulkRef): string {
  return `${partMember(ref)}/whole`
}

/** Names, in `bulksDue`, what became of the jobs that a part of a bulk made. The version before passes over it. */
export function outcomeMember(ref: BulkRef): string {
  return `${partMember(ref)}/outcome`
}

/** null = the member has another form, which a later version may write. */
export function memberIn(
  member: string,
): { readonly ref: BulkRef; readonly kind: 'part' | 'whole' | 'outcome' } | null {
  const [, team, id, kind] = /^([^/]+)\/(\d{1,16})(?:\/(whole|outcome))?$/.exec(member) ?? []
  if (team === undefined) return null
  return { ref: { team, id: Number(id) }, kind: kind === 'whole' || kind === 'outcome' ? kind : 'part' }
}
