import { HISTORY_BLOCK_CHAINS } from '../../../domain/limits.ts'
import { unlessDamaged } from '../../ledger/chain-reader.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'
import { QUEUE } from '../../base/layout/fields.ts'
import { decodeFinished } from '../../base/layout/finished-record.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'
import { encodeBlock, makeBlock, blockPlace } from './blocks/block.ts'
import { lookAtHistory, readChains, type FinishedEntry, type HistoryLook } from './history-reads.ts'

export const SEAL = step('seal', import.meta.url, {
  keys: ['sealedHistories', 'shardUsage', 'teamUsage'],
  queueKeys: ['meta', 'history', 'blocks'],
  args: ['localId', 'number', 'block'],
})

/** At most this many blocks are sealed in one go; the rest follows the next time the history grows. */
const SEALED_TOGETHER_MAX = 256

/**
 * Seals as many blocks as a queue's history has chains for. Several calls at once do no harm, as each block is added by
 * one of them. Answers how many were added; null = it is the hidden queue of a cron, which is too short for any.
 */
export async function sealHistory(engine: Engine, keys: ShardKeys, localId: string): Promise<number | null> {
  const { meta } = keys.queue(localId)
  if ((await engine.runner.read((redis) => redis.hget(meta, QUEUE.cronId))) !== null) return null
  let look = await lookAtHistory(engine, { keys, localId })
  let sealed = 0
  for (let tries = 0; tries < SEALED_TOGETHER_MAX; tries += 1) {
    const number = nextBlock(look)
    const stop = (number + 1) * HISTORY_BLOCK_CHAINS
    if (stop > look.stop) break
    const from = number * HISTORY_BLOCK_CHAINS
    const read = await readChains(engine, { keys, localId }, { from, to: stop })
    look = read
    const [newest] = read.entries
    if (nextBlock(read) !== number || newest === undefined) continue
    const block = blockText(read.entries)
    const answer = await engine.runner.run(SEAL.with({ keys, localId, number, block }))
    if (answer !== 'sealed') look = await lookAtHistory(engine, { keys, localId })
    else {
      sealed += 1
      look = { ...read, sealedTo: stop }
    }
  }
  return sealed
}

function nextBlock({ oldest, sealedTo }: Pick<HistoryLook, 'oldest' | 'sealedTo'>): number {
  return blockPlace(Math.max(oldest, sealedTo)).number
}

/** @param entries those of one block, newest first */
function blockText(entries: readonly FinishedEntry[]): string {
  const bytes = entries.reduce((sum, { text }) => sum + (text === null ? 0 : Buffer.byteLength(text)), 0)
  const chains = entries.toReversed().map(({ ordinal, text }) => ({
    offset: blockPlace(ordinal).offset,
    record:
      text === null
        ? null
        : unlessDamaged(
            () => decodeFinished(text),
            () => null,
          ),
  }))
  return encodeBlock(makeBlock(chains, { bytes, newestRoot: entries[0]?.root ?? '0' }))
}
