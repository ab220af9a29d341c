import type { AuditEntry } from '../../../domain/access/audit-record.ts'
import { NO_BULK_COUNTS, type BulkCounts } from '../../../domain/bulk/bulk.ts'
import { audited, DONE } from '../../audit-log/audit-entry.ts'
import { shardKeys, type Engine } from '../../client/engine.ts'
import { type BulkPart, type BulkRecord, bulkRecordIn, encodeBulkRecord } from '../../layout/bulk-record.ts'
import { BULK_PART } from '../../layout/fields.ts'
import {
  BULK_KEEP_SECONDS,
  type BulkRef,
  homeOfBulks,
  partMember,
  SET_BULK,
  wholeMember,
} from './bulk-steps.ts'

/** A lost answer is no reason to do a thing again. */
const RESEND_FOR_MS = 2_000

/** null = unknown, or damaged. */
export async function readBulk(engine: Engine, { team, id }: BulkRef): Promise<BulkRecord | null> {
  const key = homeOfBulks(engine, team).bulks(team)
  const text = await engine.runner.read((redis) => redis.hget(key, String(id)))
  return text === null ? null : bulkRecordIn(text)
}

export interface BulkChange {
  /** What was read. */
  readonly former: BulkRecord
  /** Without its version, which rises when something changes. */
  readonly change: Partial<Omit<BulkRecord, 'version'>>
  /** When to look at it next; null = never again. */
  readonly dueMs: number | null
  readonly entry?: AuditEntry
}

/** The record as written; null when somebody was faster. */
export async function changeBulk(
  engine: Engine,
  ref: BulkRef,
  { former, change, dueMs, entry }: BulkChange,
): Promise<BulkRecord | null> {
  const isChanged = Object.keys(change).length > 0
  const record = { ...former, ...change, version: former.version + (isChanged ? 1 : 0) }
  const keys = homeOfBulks(engine, ref.team)
  const answer = await engine.runner.run(
    SET_BULK.with({
      ...{ keys, bulks: keys.bulks(ref.team), id: ref.id, version: former.version },
      ...{ record: encodeBulkRecord(record), member: wholeMember(ref), dueMs: dueMs ?? '' },
      keepSeconds: BULK_KEEP_SECONDS,
      ...audited(engine, keys, { team: ref.team, entry: entry ?? null }),
    }),
    RESEND_FOR_MS,
  )
  if (answer !== 1) return null
  if (entry !== undefined) engine.auditLines.note(ref.team, entry, DONE)
  return record
}

/** Takes a bulk whose record is gone or damaged off the list of what is due. */
export async function dropBulk(engine: Engine, ref: BulkRef): Promise<void> {
  const keys = homeOfBulks(engine, ref.team)
  const text = await engine.runner.read((redis) => redis.hget(keys.bulks(ref.team), String(ref.id)))
  await engine.runner.run(
    SET_BULK.with({
      ...{ keys, bulks: keys.bulks(ref.team), id: ref.id, version: /^\d*/.exec(text ?? '')?.[0] ?? '' },
      ...{ record: '', member: wholeMember(ref), dueMs: '', keepSeconds: BULK_KEEP_SECONDS },
      ...audited(engine, keys, { team: ref.team, entry: null }),
    }),
  )
}

const { version, state, place, ids, done, skipped, failed } = BULK_PART
const PART_FIELDS = [version, state, place, ids, done, skipped, failed]

/** null = there is none. */
export async function readPart(engine: Engine, shard: number, ref: BulkRef): Promise<BulkPart | null> {
  const key = shardKeys(engine, shard).bulkPart(partMember(ref))
  const [v, s, p, i, d, k, f] = await engine.runner.read((redis) => redis.hmget(key, ...PART_FIELDS))
  if (typeof v !== 'string') return null
  return {
    version: v,
    state: s === 'done' || s === 'aborted' ? s : 'running',
    place: p ?? '',
    ids: typeof i === 'string' && i !== '' ? (JSON.parse(i) as number[]) : [],
    ...{ done: Number(d), skipped: Number(k), failed: Number(f) },
  }
}

/** The parts that there are. */
export async function readParts(
  engine: Engine,
  ref: BulkRef,
  shards: readonly number[],
): Promise<BulkPart[]> {
  const parts = await Promise.all(shards.map((shard) => readPart(engine, shard, ref)))
  return parts.filter((part) => part !== null)
}

export function sumOf(counts: readonly BulkCounts[]): BulkCounts {
  return counts.reduce(
    (sum, one) => ({
      done: sum.done + one.done,
      skipped: sum.skipped + one.skipped,
      failed: sum.failed + one.failed,
    }),
    NO_BULK_COUNTS,
  )
}
