import {
  HISTORY_BLOCK_CHAINS,
  HISTORY_BYTES_WITHOUT_LIMIT,
  HISTORY_PART,
  TRIM_BATCH_MAX,
} from '../../../domain/limits.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { QUEUE, SHARD_USAGE } from '../../base/layout/fields.ts'
import { splitNameField, type ShardKeys } from '../../base/layout/keys.ts'
import { readShardUsage, type MemoryReading } from '../../ledger/quotas/usage-reader.ts'
import { BLOCK_BYTES, blockPlace } from './blocks/block.ts'
import { chainEndMs, forgetChains, TRIM_AGE_MS_MIN } from './finished-chains.ts'
import { lookAtHistory, readChains } from './history-reads.ts'

/** From this part of maxmemory on, finished chains give way to jobs. It comes before intake stops, at nine tenths. */
const MEMORY_PART_MAX = 0.85
/**
 * At most this many histories, the largest ones, are compared with each other in one round, which drops at most as many
 * blocks.
 */
const COMPARED_MAX = 1_000
const DROPPED_MAX = 64
/** One read takes at most this many histories. */
const LISTED_TOGETHER = 1_000
/** One round reads at most this many histories. Each weighs about 1 MB or more, so no Redis has this many. */
const LISTED_MAX = 100_000

/**
 * Drops the oldest blocks while the finished chains of a shard exceed its part of the budget. The team that holds most
 * loses first, from its largest history, so that nobody drives out others who hold less. Each queue keeps its newest
 * blocks, and histories that have no others are passed over, however many and large they are. Answers whether it
 * stopped before it was done; false = nothing more may go.
 */
export async function keepBudget(engine: Engine, keys: ShardKeys): Promise<boolean> {
  let held = await heldBytes(engine, keys)
  if (held === 0) return false
  const { memory } = await readShardUsage(engine, keys, [], 0)
  const share = shareOf(engine, memory, held)
  let dropped = 0
  for (let from: number | null = 0; from !== null && held > share && dropped < DROPPED_MAX;) {
    const { histories, next }: Listed = await largestHistories(engine, keys, from)
    while (held > share && dropped < DROPPED_MAX) {
      const largest = largestOf(histories)
      if (largest === undefined) break
      if (await dropOldest(engine, keys, largest)) dropped += 1
      else histories.delete(largest)
      held = await heldBytes(engine, keys)
      largest.bytes = await engine.runner.read(async (redis) =>
        Number(await redis.zscore(keys.sealedHistories, largest.member)),
      )
    }
    from = next
  }
  return dropped > 0 && held > share
}

/** Answers how many bytes the finished chains of one shard may take. */
function shareOf(
  { retention, shards }: Engine,
  { usedBytes, maxBytes }: MemoryReading,
  held: number,
): number {
  const unset = maxBytes === 0 ? HISTORY_BYTES_WITHOUT_LIMIT : maxBytes * HISTORY_PART
  const share = Math.floor((retention.historyBytes ?? unset) / shards.length)
  const excess = maxBytes === 0 ? 0 : usedBytes - maxBytes * MEMORY_PART_MAX
  return excess <= 0 ? share : Math.max(0, Math.min(share, Math.floor(held - excess / shards.length)))
}

async function heldBytes(engine: Engine, keys: ShardKeys): Promise<number> {
  const held = await engine.runner.read((redis) => redis.hget(keys.shardUsage, SHARD_USAGE.sealedBytes))
  return Number(held ?? 0)
}

interface LargeHistory {
  /** The text `team/queue`. */
  readonly member: string
  readonly team: string
  readonly localId: string
  bytes: number
}

interface Listed {
  readonly histories: Set<LargeHistory>
  /** The rank of the next history; null = there is none that could lose a block. */
  readonly next: number | null
}

/** Lists the histories from which a block could go, by their length, from the rank `from` on, the largest first. */
async function largestHistories(engine: Engine, keys: ShardKeys, from: number): Promise<Listed> {
  const bytesMin = Math.floor(engine.retention.finishedChainsKept / HISTORY_BLOCK_CHAINS) * BLOCK_BYTES
  const histories = new Set<LargeHistory>()
  for (let rank = from; rank < LISTED_MAX; rank += LISTED_TOGETHER) {
    if (histories.size >= COMPARED_MAX) return { histories, next: rank }
    const flat = await engine.runner.read((redis) =>
      redis.zrevrange(keys.sealedHistories, rank, rank + LISTED_TOGETHER - 1, 'WITHSCORES'),
    )
    const listed: LargeHistory[] = []
    for (let i = 0; i < flat.length && Number(flat[i + 1]) > bytesMin; i += 2) {
      const member = flat[i] ?? ''
      const { team, queue: localId } = splitNameField(member)
      listed.push({ member, team, localId, bytes: Number(flat[i + 1]) })
    }
    const areLong = await engine.runner.read((redis) =>
      Promise.all(
        listed.map(async ({ localId }) => {
          const { history, meta } = keys.queue(localId)
          const [length, trimmed] = await Promise.all([redis.llen(history), redis.hget(meta, QUEUE.trimmed)])
          const inOldest = HISTORY_BLOCK_CHAINS - blockPlace(Number(trimmed ?? 0)).offset
          return length - inOldest >= engine.retention.finishedChainsKept
        }),
      ),
    )
    for (const [i, history] of listed.entries()) if (areLong[i] === true) histories.add(history)
    if (listed.length < LISTED_TOGETHER) break
  }
  return { histories, next: null }
}

function largestOf(histories: ReadonlySet<LargeHistory>): LargeHistory | undefined {
  const byTeam = Map.groupBy(histories, ({ team }) => team)
  const sumOf = (of: readonly LargeHistory[]) => of.reduce((sum, { bytes }) => sum + bytes, 0)
  const [most] = [...byTeam.values()].toSorted((a, b) => sumOf(b) - sumOf(a))
  return most?.toSorted((a, b) => b.bytes - a.bytes)[0]
}

/** Answers whether the block went; false = the queue has none that may go yet. */
async function dropOldest(engine: Engine, keys: ShardKeys, { localId }: LargeHistory): Promise<boolean> {
  const { oldest, stop, sealedTo } = await lookAtHistory(engine, { keys, localId })
  const end = (blockPlace(oldest).number + 1) * HISTORY_BLOCK_CHAINS
  if (end > sealedTo || stop - end < engine.retention.finishedChainsKept) return false
  const { entries } = await readChains(engine, { keys, localId }, { from: oldest, to: end })
  const ageMs = engine.runner.redisNowMs(keys.shard) - chainEndMs(entries[0]?.text ?? null)
  if (entries.length === 0 || entries.length > TRIM_BATCH_MAX || ageMs < TRIM_AGE_MS_MIN) return false
  const roots = entries.map(({ root }) => root)
  return (await forgetChains(engine, keys, localId, roots)) > 0
}
