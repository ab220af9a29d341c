import type { BulkOutcome } from '../../../../domain/bulk/bulk-outcome.ts'
import { shardKeys, type Engine } from '../../../base/engine/engine.ts'
import { BULK_PART } from '../../../base/layout/fields.ts'
import {
  BULK_KEEP_SECONDS,
  type BulkRef,
  COUNT_OUTCOME,
  outcomeMember,
  partMember,
} from '../records/bulk-steps.ts'
import { locateJobs } from './located-jobs.ts'

/** Jobs that one look reads. */
const LOOKED_MAX = 200
/** Jobs that are looked at before a look rests, so that a bulk whose jobs wait for days costs little. */
const LOOKS_MAX = 20_000
const RESEND_MS = 2_000

type JobEnd = keyof BulkOutcome

/**
 * Looks at the next jobs that a part has made, and counts those that have ended. Several executors at once do no harm. It
 * reads the state of each job and not a message about its end, so it counts whoever ended the job, and however.
 * @returns whether all jobs of the part are counted
 */
export async function countOutcome(
  engine: Engine,
  ref: BulkRef,
  { shard, restMs }: { readonly shard: number; readonly restMs: number },
): Promise<boolean> {
  const keys = shardKeys(engine, shard)
  const member = partMember(ref)
  const [part, bulkWaiting] = [keys.bulkPart(member), keys.bulkWaiting(member)]
  // The version comes first: if another look comes between the two, the step refuses this one.
  const version = await engine.runner.read((redis) => redis.hget(part, BULK_PART.outcomeVersion))
  const texts = await engine.runner.read((redis) => redis.lrange(bulkWaiting, '0', String(LOOKED_MAX - 1)))
  const ids = texts.map(Number)
  const ends = await endsOf(engine, shard, ids)
  const countOf = (end: JobEnd) => ends.filter((one) => one === end).length
  const answer = await engine.runner.run(
    COUNT_OUTCOME.with({
      keys,
      part,
      bulkWaiting,
      member: outcomeMember(ref),
      version: version ?? 0,
      looked: ids.length,
      succeeded: countOf('succeeded'),
      failedAgain: countOf('failedAgain'),
      removed: countOf('removed'),
      waiting: ids.filter((_, i) => ends[i] === 'waiting').join(' '),
      looksMax: LOOKS_MAX,
      dueMs: engine.runner.redisNowMs(shard),
      restMs,
      keepSeconds: BULK_KEEP_SECONDS,
    }),
    RESEND_MS,
  )
  return answer === 'over'
}

/** A chain moves from the records to the dead letters to the summaries, so reading in this order never misses its end. */
async function endsOf(engine: Engine, shard: number, ids: readonly number[]): Promise<JobEnd[]> {
  const located = await locateJobs(engine, shard, ids)
  return engine.runner.read((redis) =>
    Promise.all(
      located.map(async ({ jobId, queue }): Promise<JobEnd> => {
        if (queue === null) return 'removed'
        const { deadLetterRecords, summaries } = queue.keys.queue(queue.localId)
        const [letterBytes, summary] = await Promise.all([
          redis.hstrlen(deadLetterRecords, String(jobId)),
          redis.hget(summaries, String(jobId)),
        ])
        if (letterBytes > 0) return 'failedAgain'
        if (summary === null) return 'waiting'
        return summary.startsWith('["s"') ? 'succeeded' : 'failedAgain'
      }),
    ),
  )
}
