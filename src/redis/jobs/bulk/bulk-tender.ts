import { isBulkEnded, makesJobs } from '../../../domain/bulk/bulk.ts'
import { NO_BULK_OUTCOME } from '../../../domain/bulk/bulk-outcome.ts'
import { type BulkStop, stopOf } from '../../../domain/bulk/stop-rule.ts'
import { shardKeys, type Engine } from '../../base/engine/engine.ts'
import { abortPart } from './abort-part.ts'
import { countOutcome } from './outcome/count-outcome.ts'
import type { BulkPart, BulkRecord } from '../../base/layout/bulk-record.ts'
import {
  changeBulk,
  dropBulk,
  outcomeOf,
  readBulk,
  readPart,
  readParts,
  sumOf,
} from './records/bulk-records.ts'
import {
  BULK_KEEP_SECONDS,
  type BulkRef,
  homeOfBulks,
  partMember,
  PUT_PART,
  RESUME_PART,
} from './records/bulk-steps.ts'

/** A bulk is read this often while its parts run. Its last part ends it, unless the executor died just then. */
const LOOK_MS = 2_000
/** All jobs that a bulk made and that wait are looked at this often. */
const OUTCOME_MS = 2_000
/** The same of a running bulk with a rule, which lets few jobs wait. */
const RULED_OUTCOME_MS = 250
const RESEND_MS = 2_000

/**
 * Makes the parts of a bulk or resumes them, stops it by its rule, and ends it when all of them have ended. Each write may
 * be repeated, and several executors at once do no harm.
 */
export async function tendBulk(engine: Engine, ref: BulkRef): Promise<void> {
  const read = await readBulk(engine, ref)
  if (read === null) return dropBulk(engine, ref)
  if (isBulkEnded(read.state)) {
    await changeBulk(engine, ref, { former: read, change: {}, dueMs: null })
    return
  }
  const nowMs = engine.runner.redisNowMs(homeOfBulks(engine, ref.team).shard)
  if (read.state === 'starting') return start(engine, ref, { former: read, nowMs })
  const former = await stopByRule(engine, ref, { former: read, nowMs })
  if (former === null) return
  if (former.state === 'aborting') {
    for (const shard of former.shards)
      await abortPart(engine, ref, { shard, part: await readPart(engine, shard, ref) })
  }
  const parts = await readParts(engine, ref, former.shards)
  if (parts.some(({ state }) => state === 'running')) {
    await changeBulk(engine, ref, { former, change: {}, dueMs: nowMs + LOOK_MS })
    return
  }
  await changeBulk(engine, ref, { former, change: endOf(former, parts, nowMs), dueMs: null })
}

interface Tended {
  readonly former: BulkRecord
  readonly nowMs: number
}

async function start(engine: Engine, ref: BulkRef, { former, nowMs }: Tended): Promise<void> {
  const { ids, shards, resumes = 0 } = former
  for (const shard of shards) {
    await putPart(engine, ref, { ids, shard })
    if (resumes > 0) await resumePart(engine, ref, { resumes, shard })
  }
  const change = { state: 'running', startedAtMs: former.startedAtMs ?? nowMs, ids: [] } as const
  await changeBulk(engine, ref, { former, change, dueMs: nowMs + LOOK_MS })
}

/** Why a running bulk is to stop by its rule now; null = it goes on. */
export function ruleBroken(
  { state, stopWhen, endedBefore }: BulkRecord,
  parts: readonly BulkPart[],
): BulkStop | null {
  if (state !== 'running' || stopWhen === undefined || stopWhen === null) return null
  return stopOf(stopWhen, outcomeOf(parts), endedBefore ?? NO_BULK_OUTCOME)
}

/** Aborts the bulk when its rule says so. Answers its record as it is now; null = somebody else has changed it. */
async function stopByRule(
  engine: Engine,
  ref: BulkRef,
  { former, nowMs }: Tended,
): Promise<BulkRecord | null> {
  if (former.stopWhen === undefined || former.stopWhen === null) return former
  const stopped = ruleBroken(former, await readParts(engine, ref, former.shards))
  if (stopped === null) return former
  const change = { state: 'aborting', stopped } as const
  const changed = await changeBulk(engine, ref, { former, change, dueMs: nowMs })
  return changed === 'too_many' ? null : changed
}

function endOf(former: BulkRecord, parts: readonly BulkPart[], endedAtMs: number) {
  const counts = sumOf(parts)
  const outcome = outcomeOf(parts)
  const end = {
    endedAtMs,
    counts,
    outcome: makesJobs(former.action) && outcome.waiting === 0 ? outcome : null,
  }
  if (former.state === 'aborting') return { ...end, state: 'aborted' } as const
  const matched = counts.done + counts.skipped + counts.failed
  return { ...end, state: 'done', matched, isAtLeast: false } as const
}

async function resumePart(
  engine: Engine,
  ref: BulkRef,
  { resumes, shard }: { readonly resumes: number; readonly shard: number },
): Promise<void> {
  const keys = shardKeys(engine, shard)
  const member = partMember(ref)
  await engine.runner.run(
    RESUME_PART.with({
      keys,
      member,
      part: keys.bulkPart(member),
      dueMs: engine.runner.redisNowMs(shard),
      resumes,
      keepSeconds: BULK_KEEP_SECONDS,
    }),
    RESEND_MS,
  )
}

async function putPart(
  engine: Engine,
  ref: BulkRef,
  { ids, shard }: { readonly ids: readonly number[]; readonly shard: number },
): Promise<void> {
  const keys = shardKeys(engine, shard)
  const member = partMember(ref)
  const own = ids.filter((id) => engine.jobIds.shardOf(id) === shard)
  await engine.runner.run(
    PUT_PART.with({
      keys,
      member,
      part: keys.bulkPart(member),
      dueMs: engine.runner.redisNowMs(shard),
      ids: own.length === 0 ? '' : JSON.stringify(own),
      keepSeconds: BULK_KEEP_SECONDS,
    }),
    RESEND_MS,
  )
}

/** Counts what became of jobs of a part, and stops the bulk when its rule says so. */
export async function tendOutcome(engine: Engine, ref: BulkRef, shard: number): Promise<void> {
  const bulk = await readBulk(engine, ref)
  const isRuled = bulk?.state === 'running' && (bulk.stopWhen ?? null) !== null
  const restMs = isRuled ? RULED_OUTCOME_MS : OUTCOME_MS
  const isCounted = await countOutcome(engine, ref, { shard, restMs })
  if (isRuled) return tendBulk(engine, ref)
  if (!isCounted || bulk === null || !isBulkEnded(bulk.state)) return
  const parts = await readParts(engine, ref, bulk.shards)
  const outcome = outcomeOf(parts)
  // From then on the record alone tells. A part that has gone would be missing in it.
  if (outcome.waiting > 0 || parts.length < bulk.shards.length) return
  await changeBulk(engine, ref, { former: bulk, change: { outcome }, dueMs: null })
}
