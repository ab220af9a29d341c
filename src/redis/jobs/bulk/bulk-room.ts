import { makesJobs } from '../../../domain/bulk/bulk.ts'
import { pageSizeAt, rateOfPart } from '../../../domain/bulk/bulk-pace.ts'
import { waitingAllowed } from '../../../domain/bulk/stop-rule.ts'
import { BULK_JOBS_WAITING_MAX, BULK_PAGE_JOBS_MAX } from '../../../domain/limits.ts'
import { shardKeys, type Engine } from '../../base/engine/engine.ts'
import type { BulkPart, BulkRecord } from '../../base/layout/bulk-record.ts'
import { BULK_PART } from '../../base/layout/fields.ts'
import { MOVE_PART } from '../mending/pages/page-steps.ts'
import { movedBy } from './bulk-page.ts'
import { ruleBroken } from './bulk-tender.ts'
import { outcomeOf, readParts } from './records/bulk-records.ts'
import { type BulkRef, partMember } from './records/bulk-steps.ts'

/** A part without room looks again after this time. */
const REST_MS = 500
const RESEND_MS = 2_000

interface WorkedPart {
  readonly bulk: BulkRecord
  readonly part: BulkPart
}

/** How many jobs a part may make now, because of those that have not ended. `stop`: the rule of the bulk is broken. */
export async function roomOf(
  engine: Engine,
  ref: BulkRef,
  { bulk, part }: WorkedPart,
): Promise<number | 'stop'> {
  const { action, stopWhen, shards } = bulk
  if (!makesJobs(action)) return Number.POSITIVE_INFINITY
  if (stopWhen === undefined || stopWhen === null) {
    return Math.ceil(BULK_JOBS_WAITING_MAX / Math.max(1, shards.length)) - part.outcome.waiting
  }
  const parts = await readParts(engine, ref, shards)
  if (ruleBroken(bulk, parts) !== null) return 'stop'
  const { succeeded, waiting } = outcomeOf(parts)
  return waitingAllowed(stopWhen, succeeded) - waiting
}

/** Lets a part rest where it is. */
export async function restPart(
  engine: Engine,
  ref: BulkRef,
  { bulk, part, shard, nonce }: WorkedPart & { readonly shard: number; readonly nonce: string },
): Promise<void> {
  const { version, place } = part
  const rest = movedBy(shardKeys(engine, shard), {
    ref,
    version,
    nonce,
    place,
    state: 'running',
    isNamed: false,
    perJobMs: 0,
    restMs: REST_MS,
    parts: bulk.shards.length,
    misfits: [],
  })
  await engine.runner.run(MOVE_PART.with(rest), RESEND_MS)
}

/** Answers how many jobs the next page may have, and how long the part rests after each of them. */
export async function paceOf(
  engine: Engine,
  { ref, bulk, shard }: { readonly ref: BulkRef; readonly bulk: BulkRecord; readonly shard: number },
): Promise<{ readonly perJobMs: number; readonly jobsMax: number }> {
  const { ratePerSecond, startedAtMs, resumedAtMs = startedAtMs } = bulk
  if (ratePerSecond === null) return { perJobMs: 0, jobsMax: BULK_PAGE_JOBS_MAX }
  const nowMs = engine.runner.redisNowMs(shard)
  const partRate = rateOfPart({
    ratePerSecond,
    runningMs: resumedAtMs === null ? 0 : nowMs - resumedAtMs,
    parts: await countRunning(engine, ref, bulk.shards),
  })
  return { perJobMs: 1000 / partRate, jobsMax: pageSizeAt(partRate, BULK_PAGE_JOBS_MAX) }
}

/** Counts the parts that have not ended. A part that is still to be made will take its share. */
async function countRunning(engine: Engine, ref: BulkRef, shards: readonly number[]): Promise<number> {
  const states = await engine.runner.read((redis) =>
    Promise.all(
      shards.map((shard) => redis.hget(shardKeys(engine, shard).bulkPart(partMember(ref)), BULK_PART.state)),
    ),
  )
  return states.filter((state) => state !== 'done' && state !== 'aborted').length
}
