import { QUEUES_PER_SHARD_MAX } from '../../../domain/limits.ts'
import { LruCache } from '../../../domain/lru-cache.ts'
import type { Engine } from '../engine/engine.ts'
import { orWhenFull } from '../client/faults.ts'
import { step } from '../engine/step.ts'
import { splitNameField, type ShardKeys } from '../layout/keys.ts'

export const RESERVE_QUEUE = step('reserve_queue', import.meta.url, {
  keys: ['queueIds', 'queueNumber', 'leaderEpoch', 'teamQueues'],
  args: ['field', 'highestId', 'epoch', 'queuesMax', 'teamQueuesMax'],
})

/**
 * Pushes that go to one queue after the other find each in the cache while it has room for twice as many; else each
 * push is a step of its own before that of its batch.
 */
const NAMES_CACHED_MAX = 250_000

/** Finds or makes the local ids of queue names, and caches them. The steps refuse an id that is no longer right. */
export class QueueNames {
  readonly #engine: Engine
  readonly #epoch: number | null
  readonly #ids = new LruCache<string, string>(NAMES_CACHED_MAX)
  /** Highest id by shard: no id is given twice, not even by a shard that lost its counter. */
  readonly #highestIds = new Map<number, number>()

  /** @param epoch of the leader that makes queues; null = there is no leader */
  constructor(engine: Engine, epoch: number | null = null) {
    this.#engine = engine
    this.#epoch = epoch
  }

  /**
   * Makes the queue's id when the name is new. `full`: the queue limit of the shard is reached. `superseded`: another
   * leader epoch is known there. `quota`: the team's queue limit is reached. Throws StoreUnavailableError.
   * @param queuesMax of the team in this shard; null = no limit
   */
  async resolve(
    keys: ShardKeys,
    field: string,
    resendForMs: number,
    queuesMax: number | null = null,
  ): Promise<{ readonly localId: string } | 'full' | 'superseded' | 'quota'> {
    const cached = this.#ids.get(field)
    if (cached !== undefined) return { localId: cached }
    const { runner } = this.#engine
    const highestId = this.#highestIds.get(keys.shard) ?? 0
    const reserved = runner.run(
      RESERVE_QUEUE.with({
        keys,
        field,
        highestId,
        epoch: this.#epoch ?? '',
        teamQueues: keys.teamQueues(splitNameField(field).team),
        queuesMax: QUEUES_PER_SHARD_MAX,
        teamQueuesMax: queuesMax ?? '',
      }),
      resendForMs,
    )
    const reply = await orWhenFull(reserved, () => runner.read((redis) => redis.hget(keys.queueIds, field)))
    if (reply === '') return 'full'
    if (reply === 'superseded' || reply === 'quota') return reply
    const localId = reply as string
    this.#highestIds.set(keys.shard, Math.max(Number(localId), highestId))
    this.#ids.set(field, localId)
    return { localId }
  }

  forget(field: string): void {
    this.#ids.delete(field)
  }
}
