import { ID_BLOCK } from '../../../domain/limits.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'

export const RESERVE_IDS = step('reserve_ids', import.meta.url, {
  keys: ['jobBlock'],
  args: ['highestBlock', 'blocks'],
})

/** Hands out the job sequence numbers of one shard, from blocks reserved for this process. */
export interface Sequence {
  next(resendForMs: number): Promise<number>
  /** Answers as many numbers as asked for. */
  take(count: number, resendForMs: number): Promise<number[]>
  /** Called when a block turned out to be another's: it is never used again, nor are those reserved with it. */
  dropBlocks(): void
}

/** This many blocks are reserved at a time, so that a process under load asks seldom. */
const BLOCKS_RESERVED = 4
/** The next blocks are reserved while this many numbers are left, so that a flush seldom waits for them. */
const RESERVE_AHEAD = (ID_BLOCK * BLOCKS_RESERVED) / 2

export function createSequence(engine: Engine, keys: ShardKeys): Sequence {
  let next = 0
  let end = 0
  let highestBlock = -1
  let following: Promise<number | null> | null = null
  let opening: Promise<void> | null = null

  async function reserve(resendForMs: number): Promise<number> {
    const call = RESERVE_IDS.with({ keys, highestBlock, blocks: BLOCKS_RESERVED })
    const block = Number(await engine.runner.run(call, resendForMs))
    highestBlock = Math.max(highestBlock, block + BLOCKS_RESERVED - 1)
    return block
  }

  async function openBlocks(resendForMs: number): Promise<void> {
    const block = (await following) ?? (await reserve(resendForMs))
    following = null
    // Number 0 is left out: a job_id of 0 would pass for none.
    next = Math.max(1, block * ID_BLOCK)
    end = (block + BLOCKS_RESERVED) * ID_BLOCK
  }

  async function take(count: number, resendForMs: number): Promise<number[]> {
    const taken: number[] = []
    while (taken.length < count) {
      // Callers that arrive while blocks are being opened wait for them: a second opening would give their numbers twice.
      while (next >= end) {
        opening ??= openBlocks(resendForMs).finally(() => {
          opening = null
        })
        await opening
      }
      if (following === null && end - next <= RESERVE_AHEAD) following = reserve(0).catch(() => null)
      taken.push(next)
      next += 1
    }
    return taken
  }

  return {
    next: async (resendForMs) => (await take(1, resendForMs))[0] as number,
    take,
    dropBlocks: () => {
      next = end
    },
  }
}
