import { ID_BLOCK } from '../domain/limits.ts'
import type { Engine } from './engine.ts'
import type { ShardKeys } from './keys.ts'

/** Job sequence numbers of one shard, taken from blocks reserved for this process. */
export interface Sequence {
  next(resendForMs: number): Promise<number>
  /** The block turned out to be another's: never use it again. */
  dropBlock(): void
}

export function createSequence(engine: Engine, keys: ShardKeys): Sequence {
  let next = 0
  let end = 0
  let highestBlock = -1

  async function reserve(resendForMs: number): Promise<void> {
    const answer = await engine.runner.run('reserve_ids', [keys.seq], [highestBlock], resendForMs)
    highestBlock = Number(answer)
    // Number 0 is left out: a job_id of 0 would pass for none.
    next = Math.max(1, highestBlock * ID_BLOCK)
    end = (highestBlock + 1) * ID_BLOCK
  }

  return {
    next: async (resendForMs) => {
      if (next >= end) await reserve(resendForMs)
      next += 1
      return next - 1
    },
    dropBlock: () => {
      next = end
    },
  }
}
