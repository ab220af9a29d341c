import { shardKeys, type Engine } from '../../../base/engine/engine.ts'
import { indexPlace } from '../../../base/layout/keys.ts'
import { knownQueue, type KnownQueue } from '../../../base/names/known-queue.ts'

export interface LocatedJob {
  readonly jobId: number
  /** null = the job is unknown, or its queue was deleted. */
  readonly queue: KnownQueue | null
}

/** Finds the queues of jobs of one shard by the index. */
export async function locateJobs(
  engine: Engine,
  shard: number,
  ids: readonly number[],
): Promise<LocatedJob[]> {
  const keys = shardKeys(engine, shard)
  const localIds = await engine.runner.read((redis) =>
    Promise.all(
      ids.map((jobId) => {
        const { block, field } = indexPlace(engine.jobIds.seqOf(jobId))
        return redis.hget(keys.jobIndex(block), field)
      }),
    ),
  )
  const named = [...new Set(localIds.flatMap((localId) => localId ?? []))]
  const known = await Promise.all(named.map((localId) => knownQueue(engine, keys, localId)))
  const queues = new Map(named.map((localId, i) => [localId, known[i] ?? null]))
  return ids.map((jobId, i) => ({ jobId, queue: queues.get(localIds[i] ?? '') ?? null }))
}
