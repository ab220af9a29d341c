import { QUEUES_PER_SHARD_MAX } from '../../domain/limits.ts'
import type { Engine } from '../client/engine.ts'
import { orWhenFull } from '../client/faults.ts'
import { splitNameField, type ShardKeys } from '../layout/keys.ts'

/** The local ids of queue names, remembered. A remembered id that is no longer right is refused by the steps. */
export interface QueueNames {
  /**
   * Makes the queue's id when the name is new. `full` when the shard holds as many queues as it may, `superseded` when
   * another epoch is known, `quota` when the team has as many queues as it may.
   * @param queuesMax of the team in this shard; null = no bound
   */
  resolve(
    keys: ShardKeys,
    field: string,
    resendForMs: number,
    queuesMax?: number | null,
  ): Promise<{ readonly localId: string } | 'full' | 'superseded' | 'quota'>
  forget(field: string): void
}

const REMEMBERED_NAMES_MAX = 100_000

/** @param epoch the leader's that makes queues; null = there is no leader */
export function createQueueNames(engine: Engine, epoch: number | null): QueueNames {
  const remembered = new Map<string, string>()
  const highest = new Map<number, number>()
  return {
    resolve: async (keys, field, resendForMs, queuesMax = null) => {
      const known = remembered.get(field)
      if (known !== undefined) return { localId: known }
      const reserved = engine.runner.run(
        {
          name: 'reserve_queue',
          keys: [
            keys.queueIds,
            keys.queueNumber,
            keys.leaderEpoch,
            keys.teamQueues(splitNameField(field).team),
          ],
          args: [field, highest.get(keys.shard) ?? 0, QUEUES_PER_SHARD_MAX, epoch ?? '', queuesMax ?? ''],
        },
        resendForMs,
      )
      const reply = await orWhenFull(reserved, () =>
        engine.runner.read((redis) => redis.hget(keys.queueIds, field)),
      )
      if (reply === '') return 'full'
      if (reply === 'superseded' || reply === 'quota') return reply
      const id = reply as string
      highest.set(keys.shard, Math.max(Number(id), highest.get(keys.shard) ?? 0))
      if (remembered.size >= REMEMBERED_NAMES_MAX) remembered.clear()
      remembered.set(field, id)
      return { localId: id }
    },
    forget: (field) => remembered.delete(field),
  }
}
