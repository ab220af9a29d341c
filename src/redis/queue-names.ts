import { QUEUES_PER_SHARD_MAX } from '../domain/limits.ts'
import type { Engine } from './engine.ts'
import type { ShardKeys } from './keys.ts'

/** The local ids of queue names, remembered. A remembered id that is no longer right is refused by the steps. */
export interface QueueNames {
  /** Makes the queue's id when the name is new; null when the shard holds as many queues as it may. */
  resolve(keys: ShardKeys, field: string, resendForMs: number): Promise<string | null>
  forget(field: string): void
}

const REMEMBERED_NAMES_MAX = 100_000

export function createQueueNames(engine: Engine): QueueNames {
  const remembered = new Map<string, string>()
  const highest = new Map<number, number>()
  return {
    resolve: async (keys, field, resendForMs) => {
      const known = remembered.get(field)
      if (known !== undefined) return known
      const reply = await engine.runner.run(
        'reserve_queue',
        [keys.names, keys.qseq],
        [field, highest.get(keys.shard) ?? 0, QUEUES_PER_SHARD_MAX],
        resendForMs,
      )
      if (reply === '') return null
      const id = reply as string
      highest.set(keys.shard, Math.max(Number(id), highest.get(keys.shard) ?? 0))
      if (remembered.size >= REMEMBERED_NAMES_MAX) remembered.clear()
      remembered.set(field, id)
      return id
    },
    forget: (field) => remembered.delete(field),
  }
}
