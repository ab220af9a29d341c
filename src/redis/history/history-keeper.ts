import { reasonOf } from '../../domain/errors.ts'
import { TRIM_BATCH_MAX } from '../../domain/limits.ts'
import { LruCache } from '../../domain/lru-cache.ts'
import type { Engine } from '../client/engine.ts'
import type { ShardKeys } from '../layout/keys.ts'
import { trimFinished } from './finished-chains.ts'
import { keepBudget } from './history-budget.ts'
import { sealHistory } from './sealer.ts'

/**
 * Looks after the histories that finishes found grown, beside the finishes and never in their way: seals blocks, and drops
 * what exceeds the budget or a cron's count. Owns: which queues are being looked after, and which rest because nothing
 * was to be done for them, or what is too much of theirs is too young to go.
 */
export interface HistoryKeeper {
  /** This queue's history has grown. Best effort: as it grows further, finishes ask again. */
  ask(queue: string): void
}

/** Looking costs a page of reads: a queue for which there was nothing to do is left alone for this long. */
const REST_MS = 5_000
const PAGES_MAX = 40
const RESTING_QUEUES_MAX = 10_000

export function createHistoryKeeper(engine: Engine, keys: ShardKeys): HistoryKeeper {
  const busy = new Set<string>()
  const restUntilMs = new LruCache<string, number>(RESTING_QUEUES_MAX)
  let isBudgetKept = false

  /** Answers whether there was something to do. */
  async function lookAfter(queue: string): Promise<boolean> {
    if ((await sealHistory(engine, keys, queue)) > 0) {
      await keepWithinBudget()
      return true
    }
    for (let page = 0; page < PAGES_MAX; page += 1) {
      if ((await trimFinished(engine, keys, queue)) < TRIM_BATCH_MAX) break
    }
    return false
  }

  /** One at a time is enough: the budget is the shard's. */
  async function keepWithinBudget(): Promise<void> {
    if (isBudgetKept) return
    isBudgetKept = true
    try {
      for (let page = 0; page < PAGES_MAX; page += 1) if (!(await keepBudget(engine, keys))) return
    } finally {
      isBudgetKept = false
    }
  }

  function rest(queue: string): void {
    restUntilMs.set(queue, engine.runner.redisNowMs(keys.shard) + REST_MS)
  }

  return {
    ask: (queue) => {
      const isResting = (restUntilMs.get(queue) ?? 0) > engine.runner.redisNowMs(keys.shard)
      if (busy.has(queue) || isResting) return
      busy.add(queue)
      lookAfter(queue)
        .then((wasUseful) => {
          if (!wasUseful) rest(queue)
        })
        .catch((error: unknown) => {
          const fields = { shard: keys.shard, queue, reason: reasonOf(error) }
          engine.logger.warn('A history of finished chains could not be looked after yet', fields)
          rest(queue)
        })
        .finally(() => busy.delete(queue))
    },
  }
}
