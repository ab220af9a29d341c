import { randomBytes } from 'node:crypto'
import type { Actor, AuditEntry } from '../../../domain/access/audit-record.ts'
import { maskedFilter } from '../../../domain/access/masking.ts'
import {
  type Bulk,
  BULK_FAILURE_REASONS,
  type BulkCounts,
  type BulkFailure,
  type BulkOrder,
  isBulkEnded,
  makesJobs,
  NO_BULK_COUNTS,
} from '../../../domain/bulk/bulk.ts'
import { type BulkOutcome, NO_BULK_OUTCOME } from '../../../domain/bulk/bulk-outcome.ts'
import {
  BULK_AUDITED_IDS_MAX,
  BULK_FAILURES_MAX,
  BULK_RETENTION_DAYS,
  BULKS_PER_TEAM_MAX,
  BULKS_RUNNING_PER_TEAM_MAX,
} from '../../../domain/limits.ts'
import { StoreUnavailableError } from '../../../domain/errors.ts'
import type { CostGate } from '../../../domain/shares/cost-gate.ts'
import type { BulkListQuery, BulkStore } from '../../../ports/bulk/bulk.ts'
import { audited, DONE } from '../../ledger/audit-log/audit-entry.ts'
import { shardKeys, shardOfQueue, type Engine } from '../../base/engine/engine.ts'
import { type BulkRecord, bulkRecordIn, encodeBulkRecord } from '../../base/layout/bulk-record.ts'
import { changeBulk, outcomeOf, readBulk, readParts, sumOf } from './records/bulk-records.ts'
import {
  BULK_KEEP_SECONDS,
  type BulkRef,
  CREATE_BULK,
  homeOfBulks,
  partMember,
  wholeMember,
} from './records/bulk-steps.ts'
import { tendBulk } from './bulk-tender.ts'
import { previewBulk } from './preview.ts'

const RESEND_MS = 1_000
/** This many bulks can be given an id in one millisecond. */
const IDS_PER_MS = 256
/** A change is tried at most this many times when an id is taken, or somebody else changes the bulk meanwhile. */
const TRIES_MAX = 5

/** @param gate the one that lists of jobs go through; absent = searches do not wait for a turn */
export function createBulkStore(
  engine: Engine,
  random: () => number,
  gate: CostGate | null = null,
): BulkStore {
  return {
    preview: (team, order, signal) =>
      previewBulk(engine, { gate, signal }, { team, order, createdBeforeMs: nowOf(engine, team) }),
    create: (team, order, actor) => create(engine, { team, order, actor, random, gate }),
    list: (query) => list(engine, query),
    get: async (team, id) => {
      const record = await readBulk(engine, { team, id })
      return record === null || isOver(engine, team, record) ? null : shown(engine, { team, id }, record)
    },
    failures: (team, id) => readFailures(engine, { team, id }),
    abort: (team, id, actor) => abort(engine, { team, id }, actor),
    resume: (team, id, actor) => resume(engine, { team, id }, actor),
  }
}

function nowOf(engine: Engine, team: string): number {
  return engine.runner.redisNowMs(homeOfBulks(engine, team).shard)
}

interface Creation {
  readonly team: string
  readonly order: BulkOrder
  readonly actor: Actor
  readonly random: () => number
  readonly gate: CostGate | null
}

async function create(
  engine: Engine,
  { team, order, actor, random, gate }: Creation,
): Promise<Bulk | 'too_many'> {
  const keys = homeOfBulks(engine, team)
  const nowMs = nowOf(engine, team)
  const found = await previewBulk(engine, { gate }, { team, order, createdBeforeMs: nowMs })
  const { matched, isAtLeast } = found === 'too_many_searches' ? { matched: 0, isAtLeast: true } : found
  const { action, target, ratePerSecond, stopWhen = null, callDepth = 0 } = order
  const nonce = randomBytes(9).toString('base64url')
  const record: BulkRecord = {
    version: 1,
    state: 'starting',
    nonce,
    action,
    ratePerSecond,
    matched,
    isAtLeast,
    filter: target.kind === 'filter' ? target.filter : null,
    ids: target.kind === 'ids' ? target.ids : [],
    shards: shardsOf(engine, team, order),
    createdBy: actor,
    createdAtMs: nowMs,
    startedAtMs: null,
    endedAtMs: null,
    counts: null,
    ...(stopWhen === null ? {} : { stopWhen }),
    ...(callDepth === 0 ? {} : { callDepth }),
  }
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const id = nowMs * IDS_PER_MS + Math.floor(random() * IDS_PER_MS)
    const ref = { team, id }
    const entry = entryOf(ref, record, 'create')
    const answer = await engine.runner.run(
      CREATE_BULK.with({
        keys,
        bulks: keys.bulks(team),
        id,
        nonce,
        record: encodeBulkRecord(record),
        member: wholeMember(ref),
        dueMs: nowMs,
        runningMax: BULKS_RUNNING_PER_TEAM_MAX,
        keptMax: BULKS_PER_TEAM_MAX,
        keepSeconds: BULK_KEEP_SECONDS,
        ...audited(engine, keys, { team, entry }),
      }),
      RESEND_MS,
    )
    if (answer === 'too_many') return answer
    if (answer === 'made') {
      engine.auditLines.note(team, entry, DONE)
      return shown(engine, ref, record)
    }
  }
  throw new StoreUnavailableError('No id for the bulk was free')
}

/** A bulk has a part in each shard that can hold its jobs. */
function shardsOf(engine: Engine, team: string, { target }: BulkOrder): number[] {
  if (target.kind === 'ids')
    return [...new Set(target.ids.map((id) => engine.jobIds.shardOf(id)))].toSorted((a, b) => a - b)
  const { queue } = target.filter
  if (queue !== null) return [shardOfQueue(engine, team, queue).shard]
  return engine.shards.map(({ shard }) => shard)
}

function entryOf(
  { id }: BulkRef,
  record: BulkRecord,
  action: 'create' | 'abort' | 'resume',
  actor = record.createdBy,
): AuditEntry {
  const { filter, matched, isAtLeast, ids } = record
  const named = ids.length === 0 ? {} : { ids: ids.slice(0, BULK_AUDITED_IDS_MAX), ids_count: ids.length }
  return {
    actor,
    action,
    resource: { kind: 'bulk', id, name: record.action },
    before: null,
    after: {
      action: record.action,
      filter: filter && maskedFilter(filter),
      ...named,
      rate: record.ratePerSecond,
      ...stopFields(record),
      matched,
      is_at_least: isAtLeast,
    },
  }
}

function stopFields({ stopWhen }: BulkRecord) {
  if (stopWhen === undefined || stopWhen === null) return {}
  return { stop_when: { failed_again_percent: stopWhen.failedAgainPercent, min: stopWhen.min } }
}

async function resume(
  engine: Engine,
  ref: BulkRef,
  actor: Actor,
): Promise<Bulk | 'done' | 'not_ended' | 'too_many' | null> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const former = await readBulk(engine, ref)
    if (former === null || isOver(engine, ref.team, former)) return null
    if (former.state === 'done') return 'done'
    if (former.state !== 'aborted') return 'not_ended'
    const { succeeded, failedAgain } = outcomeOf(await readParts(engine, ref, former.shards))
    const nowMs = nowOf(engine, ref.team)
    const change = {
      state: 'starting',
      stopped: null,
      counts: null,
      outcome: null,
      endedAtMs: null,
      resumedAtMs: nowMs,
      resumes: (former.resumes ?? 0) + 1,
      endedBefore: { succeeded, failedAgain },
    } as const
    const entry = entryOf(ref, former, 'resume', actor)
    const runningMax = BULKS_RUNNING_PER_TEAM_MAX
    const changed = await changeBulk(engine, ref, { former, change, dueMs: nowMs, entry, runningMax })
    if (changed === 'too_many') return changed
    if (changed === null) continue
    // An executor would do this as well, but one of the version before would not resume its parts.
    await tendBulk(engine, ref)
    const now = await readBulk(engine, ref)
    return now === null ? null : shown(engine, ref, now)
  }
  throw new StoreUnavailableError('The bulk keeps changing while it is resumed')
}

async function abort(engine: Engine, ref: BulkRef, actor: Actor): Promise<Bulk | 'ended' | null> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const former = await readBulk(engine, ref)
    if (former === null || isOver(engine, ref.team, former)) return null
    if (isBulkEnded(former.state)) return 'ended'
    const change = former.state === 'aborting' ? {} : ({ state: 'aborting' } as const)
    const entry = former.state === 'aborting' ? {} : { entry: entryOf(ref, former, 'abort', actor) }
    const dueMs = nowOf(engine, ref.team)
    if ((await changeBulk(engine, ref, { former, change, dueMs, ...entry })) === null) continue
    // An executor would do this as well, but a little later.
    await tendBulk(engine, ref)
    const now = await readBulk(engine, ref)
    return now === null ? null : shown(engine, ref, now)
  }
  throw new StoreUnavailableError('The bulk keeps changing while it is aborted')
}

async function list(
  engine: Engine,
  { team, limit, cursor }: BulkListQuery,
): Promise<{ bulks: Bulk[]; nextCursor: string | null } | 'bad_cursor'> {
  if (cursor !== null && !/^\d{1,16}$/.test(cursor)) return 'bad_cursor'
  const below = cursor === null ? Number.POSITIVE_INFINITY : Number(cursor)
  const texts = await engine.runner.read((redis) => redis.hgetall(homeOfBulks(engine, team).bulks(team)))
  const known = Object.entries(texts)
    .flatMap(([id, text]) => {
      const record = bulkRecordIn(text)
      return record === null || isOver(engine, team, record) ? [] : [{ id: Number(id), record }]
    })
    .filter(({ id }) => id < below)
    .toSorted((a, b) => b.id - a.id)
  const page = known.slice(0, limit)
  const last = page.at(-1)
  return {
    bulks: await Promise.all(page.map(({ id, record }) => shown(engine, { team, id }, record))),
    nextCursor: known.length > page.length && last !== undefined ? String(last.id) : null,
  }
}

/** A bulk past its retention is not shown, although its record stays until the next bulk is made. */
function isOver(engine: Engine, team: string, { state, createdAtMs }: BulkRecord): boolean {
  return isBulkEnded(state) && createdAtMs < nowOf(engine, team) - BULK_RETENTION_DAYS * 86_400_000
}

async function shown(engine: Engine, { team, id }: BulkRef, record: BulkRecord): Promise<Bulk> {
  const { counts, outcome } = await countsOf(engine, { team, id }, record)
  const { action, filter, ratePerSecond, createdBy, createdAtMs, startedAtMs, endedAtMs } = record
  const { stopWhen = null, stopped = null } = record
  return {
    id,
    team,
    action,
    state: record.state === 'aborted' && stopped !== null ? 'stopped' : record.state,
    filter,
    ratePerSecond,
    stopWhen,
    stopped,
    outcome: makesJobs(action) ? outcome : null,
    createdBy,
    createdAtMs,
    startedAtMs,
    endedAtMs,
    ...counts,
    matched: Math.max(record.matched, counts.done + counts.skipped + counts.failed),
    isAtLeast: record.isAtLeast,
  }
}

/** Reads the parts only where the record does not tell. */
async function countsOf(
  engine: Engine,
  ref: BulkRef,
  { action, state, startedAtMs, counts, outcome = null, shards }: BulkRecord,
): Promise<{ readonly counts: BulkCounts; readonly outcome: BulkOutcome }> {
  if (state === 'starting' && startedAtMs === null)
    return { counts: NO_BULK_COUNTS, outcome: NO_BULK_OUTCOME }
  if (counts !== null && (outcome !== null || !makesJobs(action)))
    return { counts, outcome: outcome ?? NO_BULK_OUTCOME }
  const parts = await readParts(engine, ref, shards)
  return { counts: counts ?? sumOf(parts), outcome: outcomeOf(parts) }
}

async function readFailures(engine: Engine, ref: BulkRef): Promise<BulkFailure[]> {
  const record = await readBulk(engine, ref)
  const lists = await engine.runner.read((redis) =>
    Promise.all(
      (record?.shards ?? []).map((shard) =>
        redis.lrange(
          shardKeys(engine, shard).bulkFailures(partMember(ref)),
          '0',
          String(BULK_FAILURES_MAX - 1),
        ),
      ),
    ),
  )
  const failures = lists.flat().flatMap((text): BulkFailure[] => {
    const [id, word] = text.split(' ')
    const reason = BULK_FAILURE_REASONS.find((one) => one === word)
    return reason === undefined ? [] : [{ jobId: Number(id), reason }]
  })
  return failures.slice(0, BULK_FAILURES_MAX)
}
