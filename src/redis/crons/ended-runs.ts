import { ATTEMPTS_PER_CHAIN } from '../../domain/jobs/job-ids.ts'
import { shardKeys, type Engine } from '../base/engine/engine.ts'
import { indexPlace } from '../base/layout/keys.ts'
import { readFields } from './read-fields.ts'

/**
 * The runs among these whose chains have ended, were cancelled or went with their queue. Takes two round trips for any
 * number of runs.
 */
export async function endedAmong(engine: Engine, rootIds: readonly number[]): Promise<ReadonlySet<number>> {
  if (rootIds.length === 0) return new Set()
  const { jobIds } = engine
  const chains = rootIds.map((rootId) => {
    const shard = jobIds.shardOf(rootId)
    return { rootId, shard, keys: shardKeys(engine, shard), seq: jobIds.seqOf(rootId) }
  })
  const queues = await readFields(
    engine,
    chains.map(({ keys, seq }) => {
      const { block, field } = indexPlace(seq)
      return { key: keys.jobIndex(block), field }
    }),
  )
  const attempts = chains.flatMap(({ rootId, shard, keys, seq }, i) => {
    const localId = queues[i] ?? null
    if (localId === null) return []
    const key = keys.queueKey('records', localId)
    return Array.from({ length: ATTEMPTS_PER_CHAIN }, (_, nth) => ({
      rootId,
      key,
      field: String(jobIds.idOf(shard, seq, nth + 1)),
    }))
  })
  const ended = new Set(rootIds)
  const records = await readFields(engine, attempts)
  attempts.forEach(({ rootId }, i) => {
    if (records[i] !== null) ended.delete(rootId)
  })
  return ended
}
