import type { Engine } from '../../base/engine/engine.ts'
import { indexPlace, type ShardKeys } from '../../base/layout/keys.ts'

/** Key and field of the index entry of a job. */
export function jobIndexOf(
  engine: Engine,
  keys: ShardKeys,
  jobId: number,
): { jobIndex: string; field: string } {
  const { block, field } = indexPlace(engine.jobIds.seqOf(jobId))
  return { jobIndex: keys.jobIndex(block), field }
}
