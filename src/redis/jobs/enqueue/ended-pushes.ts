import { ATTEMPTS_PER_CHAIN } from '../../../domain/jobs/job-ids.ts'
import type { AttemptSummary } from '../../../domain/jobs/job.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { decodeFinished } from '../../base/layout/finished-record.ts'
import { decodeRecord } from '../../base/layout/job-record.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'

/** A resent push whose job has ended meanwhile. */
interface EndedPush {
  readonly keys: ShardKeys
  readonly localId: string
  readonly seq: number
  /** What was lost was the answer, so that a read may be lost as well. */
  readonly readAnewForMs: number
}

/**
 * When the first attempt of an ended job was due, which only what is left of its chain knows; null = it was deleted, or
 * cannot be read. Asked only after a lost answer, so it never fails: the job is stored, and its push has to be answered.
 */
export async function storedDueMs(
  engine: Engine,
  { keys, localId, seq, readAnewForMs }: EndedPush,
): Promise<number | null> {
  const { jobIds, runner } = engine
  const ids = Array.from({ length: ATTEMPTS_PER_CHAIN }, (_, i) =>
    String(jobIds.idOf(keys.shard, seq, i + 1)),
  )
  const [root = ''] = ids
  const queue = keys.queue(localId)
  try {
    // In the order in which a chain moves, as in readChain.
    const [open, dead, finished] = await runner.read(
      (redis) =>
        Promise.all([
          redis.hmget(queue.records, ...ids),
          redis.hget(queue.deadLetterRecords, root),
          redis.hget(queue.summaries, root),
        ]),
      readAnewForMs,
    )
    const record = open.find((body) => body !== null) ?? dead
    const attempts = record === null ? attemptsOf(finished) : decodeRecord(record, null).earlier
    return attempts[0]?.scheduledAtMs ?? null
  } catch {
    return null
  }
}

function attemptsOf(finished: string | null): readonly AttemptSummary[] {
  return finished === null ? [] : decodeFinished(finished).attempts
}
