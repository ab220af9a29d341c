import { reasonOf } from '../../domain/errors.ts'
import { TRIM_BATCH_MAX } from '../../domain/limits.ts'
import { LruCache } from '../../domain/lru-cache.ts'
import type { Engine } from '../client/engine.ts'
import type { ShardKeys } from '../layout/keys.ts'
import { trimFinished } from './finished-chains.ts'

/**
 * Shortens the histories that finishes found too long, beside the finishes and never in their way. Owns: which queues
 * are being trimmed, and which rest because what is too much of theirs is too young to go.
 */
export interface Trimmer {
  /** This queue's history is too long. Best effort: as long as it is, every finish asks again. */
  ask(queue: string): void
}

/** Looking costs a page of reads: a queue whose page was not full is left alone for this long. */
const REST_MS = 5_000
const PAGES_MAX = 40
const RESTING_QUEUES_MAX = 10_000

export function createTrimmer(engine: Engine, keys: ShardKeys): Trimmer {
  const busy = new Set<string>()
  const restUntilMs = new LruCache<string, number>(RESTING_QUEUES_MAX)

  async function trim(queue: string): Promise<void> {
    for (let page = 0; page < PAGES_MAX; page += 1) {
      if ((await trimFinished(engine, keys, queue)) < TRIM_BATCH_MAX) return
    }
  }

  function rest(queue: string): void {
    busy.delete(queue)
    restUntilMs.set(queue, engine.runner.redisNowMs(keys.shard) + REST_MS)
  }

  return {
    ask: (queue) => {
      const isResting = (restUntilMs.get(queue) ?? 0) > engine.runner.redisNowMs(keys.shard)
      if (busy.has(queue) || isResting) return
      busy.add(queue)
      trim(queue)
        .catch((error: unknown) => {
          const fields = { shard: keys.shard, queue, reason: reasonOf(error) }
          engine.logger.warn('Finished chains could not be forgotten yet', fields)
        })
        .finally(() => rest(queue))
    },
  }
}
