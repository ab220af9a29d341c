import type { Engine } from '../client/engine.ts'
import { indexPlace, type ShardKeys } from '../layout/keys.ts'

/** Where the index holds a job. */
export function jobIndexOf(
  engine: Engine,
  keys: ShardKeys,
  jobId: number,
): { jobIndex: string; field: string } {
  const { block, field } = indexPlace(engine.jobIds.seqOf(jobId))
  return { jobIndex: keys.jobIndex(block), field }
}
