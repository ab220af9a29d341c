import { hostOf } from '../../../domain/jobs/job-match.ts'
import { HISTORY_BLOCK_CHAINS } from '../../../domain/limits.ts'
import { QUEUE } from '../../base/layout/fields.ts'
import { unlessDamaged } from '../../ledger/chain-reader.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { decodeFinished, type FinishedRecord } from '../../base/layout/finished-record.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'
import {
  BLOCK_BYTES,
  blockKeysOf,
  blockPlace,
  codeOf,
  decodeBlock,
  KEPT_BLOCKS,
  PLAIN_CODE,
  type Block,
  type Span,
} from './blocks/block.ts'
import { mayHold } from './blocks/key-filter.ts'
import { matchBlocks } from './blocks/block-reads.ts'
import { lookAtHistory, readChains } from './history-reads.ts'

/** Who checks, and is told what is wrong. */
export interface BlockCheck {
  readonly engine: Engine
  readonly keys: ShardKeys
  find(key: string, message: string): void
  findMiscount(key: string, message: string): void
}

export interface BlockSums {
  /** The bytes that the budget counts. */
  readonly weight: number
  /** The bytes of the summaries in blocks that do not count for the team's quota. */
  readonly beyondKept: number
}

/**
 * Checks that the blocks of a queue are those of its chains, and leave none of them out. null = there are no blocks.
 */
export async function checkBlocks(look: BlockCheck, localId: string): Promise<BlockSums | null> {
  const { engine, keys, find } = look
  const { blocks: key } = keys.queue(localId)
  const { oldest, stop, sealedTo } = await lookAtHistory(engine, { keys, localId })
  const { meta } = keys.queue(localId)
  const [count, [buriedText, beyondText]] = await engine.runner.read((redis) =>
    Promise.all([redis.llen(key), redis.hmget(meta, QUEUE.buried, QUEUE.beyondKept)]),
  )
  if (count === 0) return null
  if (sealedTo === oldest || sealedTo > stop) {
    find(key, 'has blocks of other chains than the history')
    return null
  }
  const newest = sealedTo / HISTORY_BLOCK_CHAINS - 1
  let [below, bytes, beyondKept] = [newest + 1, 0, 0]
  while (below > blockPlace(oldest).number) {
    const found = await matchBlocks(engine, { keys, localId }, { below, query: null })
    if (found === null) break
    for (const { number, text } of found.blocks) {
      const block = decodeBlock(text)
      if (block === null) find(key, `has the block ${number}, which cannot be read`)
      else await checkBlock(look, { localId, number, block })
      bytes += block?.bytes ?? 0
      if (newest - number >= KEPT_BLOCKS) beyondKept += block?.bytes ?? 0
    }
    below = found.last
  }
  const buried = Number(buriedText ?? 0)
  const left = bytes - buried
  if (left < 0) look.findMiscount(meta, `counts ${buried} bytes as deleted of blocks with ${bytes}`)
  if (Number(beyondText ?? beyondKept) !== beyondKept)
    look.findMiscount(
      meta,
      `counts ${beyondText} bytes of blocks beyond the kept ones; there are ${beyondKept}`,
    )
  const buriedBeyond = Math.floor((buried * Math.max(0, count - KEPT_BLOCKS)) / count)
  return {
    weight: left + count * BLOCK_BYTES,
    beyondKept: Math.max(0, Math.min(beyondKept - buriedBeyond, left)),
  }
}

async function checkBlock(
  { engine, keys, find }: BlockCheck,
  { localId, number, block }: { readonly localId: string; readonly number: number; readonly block: Block },
): Promise<void> {
  const from = number * HISTORY_BLOCK_CHAINS
  const to = from + HISTORY_BLOCK_CHAINS
  const { entries } = await readChains(engine, { keys, localId }, { from, to })
  for (const { ordinal, root, text } of entries) {
    const record = unlessDamaged(
      () => (text === null ? null : decodeFinished(text)),
      () => null,
    )
    if (record === null || covers(block, blockPlace(ordinal).offset, record)) continue
    find(keys.queue(localId).blocks, `has the block ${number}, which does not cover the chain ${root}`)
  }
}

function covers(block: Block, offset: number, record: FinishedRecord): boolean {
  const isIn = (ms: number, [least, greatest]: Span) => ms >= least && ms <= greatest
  const code = codeOf(record)
  const listed = [...block.codes].filter(([, offsets]) => offsets.includes(offset)).map(([known]) => known)
  return (
    listed.join() === (code === PLAIN_CODE ? '' : code) &&
    blockKeysOf(record).every((key) => mayHold(block.keys, key)) &&
    (!block.hasPlainHosts || record.request.url.includes(hostOf(record.request.url))) &&
    record.attempts.every(
      (attempt) =>
        isIn(attempt.createdAtMs, block.created) &&
        isIn(attempt.scheduledAtMs, block.scheduled) &&
        isIn(attempt.completedAtMs, block.ended),
    )
  )
}
