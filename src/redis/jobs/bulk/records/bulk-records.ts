import type { AuditEntry } from '../../../../domain/access/audit-record.ts'
import { NO_BULK_COUNTS, type BulkCounts } from '../../../../domain/bulk/bulk.ts'
import { NO_BULK_OUTCOME, type BulkOutcome } from '../../../../domain/bulk/bulk-outcome.ts'
import { audited, DONE } from '../../../ledger/audit-log/audit-entry.ts'
import { shardKeys, type Engine } from '../../../base/engine/engine.ts'
import {
  type BulkPart,
  type BulkRecord,
  bulkRecordIn,
  encodeBulkRecord,
} from '../../../base/layout/bulk-record.ts'
import { BULK_PART } from '../../../base/layout/fields.ts'
import {
  BULK_KEEP_SECONDS,
  type BulkRef,
  homeOfBulks,
  partMember,
  SET_BULK,
  wholeMember,
} from './bulk-steps.ts'

/** A write is resent for this long, because a lost answer is no reason to do a thing again. */
const RESEND_FOR_MS = 2_000

/** null = the bulk is unknown, or damaged. */
export async function readBulk(engine: Engine, { team, id }: BulkRef): Promise<BulkRecord | null> {
  const key = homeOfBulks(engine, team).bulks(team)
  const text = await engine.runner.read((redis) => redis.hget(key, String(id)))
  return text === null ? null : bulkRecordIn(text)
}

export interface BulkChange {
  /** The record as it was read. */
  readonly former: BulkRecord
  /** The fields to change, without the version, which rises when something changes. */
  readonly change: Partial<Omit<BulkRecord, 'version'>>
  /** When the bulk is due next; null = never again. */
  readonly dueMs: number | null
  readonly entry?: AuditEntry
  /** Of a bulk that is resumed: how many of its team may run with it. */
  readonly runningMax?: number
}

/** Answers the record as it was written; null = somebody was faster; `too_many` of the team are running. */
export async function changeBulk(
  engine: Engine,
  ref: BulkRef,
  { former, change, dueMs, entry, runningMax }: BulkChange,
): Promise<BulkRecord | 'too_many' | null> {
  const isChanged = Object.keys(change).length > 0
  const record = { ...former, ...change, version: former.version + (isChanged ? 1 : 0) }
  const keys = homeOfBulks(engine, ref.team)
  const answer = await engine.runner.run(
    SET_BULK.with({
      keys,
      bulks: keys.bulks(ref.team),
      id: ref.id,
      version: former.version,
      record: encodeBulkRecord(record),
      member: wholeMember(ref),
      dueMs: dueMs ?? '',
      runningMax: runningMax ?? '',
      keepSeconds: BULK_KEEP_SECONDS,
      ...audited(engine, keys, { team: ref.team, entry: entry ?? null }),
    }),
    RESEND_FOR_MS,
  )
  if (answer === 'too_many') return answer
  if (answer !== 1) return null
  if (entry !== undefined) engine.auditLines.note(ref.team, entry, DONE)
  return record
}

/** Removes a bulk whose record is gone or damaged from the list of what is due. */
export async function dropBulk(engine: Engine, ref: BulkRef): Promise<void> {
  const keys = homeOfBulks(engine, ref.team)
  const text = await engine.runner.read((redis) => redis.hget(keys.bulks(ref.team), String(ref.id)))
  await engine.runner.run(
    SET_BULK.with({
      keys,
      bulks: keys.bulks(ref.team),
      id: ref.id,
      version: /^\d*/.exec(text ?? '')?.[0] ?? '',
      record: '',
      member: wholeMember(ref),
      dueMs: '',
      runningMax: '',
      keepSeconds: BULK_KEEP_SECONDS,
      ...audited(engine, keys, { team: ref.team, entry: null }),
    }),
  )
}

const { version, state, place, ids, done, skipped, failed, made, succeeded, failedAgain, removed } = BULK_PART
const PART_FIELDS = [version, state, place, ids, done, skipped, failed, made, succeeded, failedAgain, removed]

/** null = there is no such part. */
export async function readPart(engine: Engine, shard: number, ref: BulkRef): Promise<BulkPart | null> {
  const key = shardKeys(engine, shard).bulkPart(partMember(ref))
  const [v, s, p, i, d, k, f, ...outcome] = await engine.runner.read((redis) =>
    redis.hmget(key, ...PART_FIELDS),
  )
  if (typeof v !== 'string') return null
  return {
    version: v,
    state: s === 'done' || s === 'aborted' ? s : 'running',
    place: p ?? '',
    ids: typeof i === 'string' && i !== '' ? (JSON.parse(i) as number[]) : [],
    done: Number(d),
    skipped: Number(k),
    failed: Number(f),
    outcome: outcomeIn(outcome),
  }
}

/** The fields are read together, so that a job that is being counted is in exactly one of the counts. */
function outcomeIn(fields: ReadonlyArray<string | null>): BulkOutcome {
  const [madeCount = 0, ...ended] = fields.map((text) => Number(text ?? 0))
  const [succeededCount = 0, failedAgainCount = 0, removedCount = 0] = ended
  return {
    succeeded: succeededCount,
    waiting: madeCount - succeededCount - failedAgainCount - removedCount,
    failedAgain: failedAgainCount,
    removed: removedCount,
  }
}

/** Reads those parts of a bulk that exist. */
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

export function outcomeOf(parts: ReadonlyArray<Pick<BulkPart, 'outcome'>>): BulkOutcome {
  return parts.reduce(
    (sum, { outcome }) => ({
      succeeded: sum.succeeded + outcome.succeeded,
      waiting: sum.waiting + outcome.waiting,
      failedAgain: sum.failedAgain + outcome.failedAgain,
      removed: sum.removed + outcome.removed,
    }),
    NO_BULK_OUTCOME,
  )
}
