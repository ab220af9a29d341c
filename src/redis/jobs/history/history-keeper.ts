import { reasonOf } from '../../../domain/errors.ts'
import { TRIM_BATCH_MAX } from '../../../domain/limits.ts'
import { LruCache } from '../../../domain/lru-cache.ts'
import type { Engine } from '../../base/engine/engine.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'
import { trimFinished } from './finished-chains.ts'
import { keepBudget } from './history-budget.ts'
import { sealHistory } from './sealer.ts'

/**
 * Tends the histories that finishes found grown, beside the finishes and never in their way: seals blocks, and drops
 * what exceeds the budget or a cron's count. Owns which queues are being tended, which of them have grown meanwhile,
 * which are not trimmed for a while (because nothing was to be done for them, or because their surplus is too young to
 * go), and which rest altogether: those of crons in the same cases, and those whose turn failed.
 */
export interface HistoryKeeper {
  /**
   * Called when this queue's history has grown. A lost call does no harm, as finishes call again when it grows further.
   */
  ask(queue: string): void
}

/**
 * Finding what may be trimmed costs a page of reads, so a queue for which there was nothing to do is left alone for
 * this long. Finding what may be sealed costs one short step, which another process may have done already. That never
 * rests, because chains without a block make searches slow.
 */
const REST_MS = 5_000
const PAGES_MAX = 40
const RESTING_QUEUES_MAX = 10_000

export function createHistoryKeeper(engine: Engine, keys: ShardKeys): HistoryKeeper {
  /** By queue that is being tended, whether it has grown meanwhile. */
  const busy = new Map<string, boolean>()
  const trimFromMs = new LruCache<string, number>(RESTING_QUEUES_MAX)
  const lookFromMs = new LruCache<string, number>(RESTING_QUEUES_MAX)
  let isBudgetKept = false

  const isResting = (rests: LruCache<string, number>, queue: string) =>
    (rests.get(queue) ?? 0) > engine.runner.redisNowMs(keys.shard)
  const rest = (rests: LruCache<string, number>, queue: string) =>
    rests.set(queue, engine.runner.redisNowMs(keys.shard) + REST_MS)

  async function lookAfter(queue: string): Promise<void> {
    const sealed = await sealHistory(engine, keys, queue)
    if (sealed !== null && sealed > 0) return keepWithinBudget()
    if (isResting(trimFromMs, queue)) return
    for (let page = 0; page < PAGES_MAX; page += 1) {
      if ((await trimFinished(engine, keys, queue)) < TRIM_BATCH_MAX) break
    }
    rest(sealed === null ? lookFromMs : trimFromMs, queue)
  }

  /** One call at a time is enough, because the budget is the shard's. */
  async function keepWithinBudget(): Promise<void> {
    if (isBudgetKept) return
    isBudgetKept = true
    try {
      for (let page = 0; page < PAGES_MAX; page += 1) if (!(await keepBudget(engine, keys))) return
    } finally {
      isBudgetKept = false
    }
  }

  function ask(queue: string): void {
    if (busy.has(queue)) busy.set(queue, true)
    else if (!isResting(lookFromMs, queue)) look(queue)
  }

  function look(queue: string): void {
    busy.set(queue, false)
    lookAfter(queue)
      .catch((error: unknown) => {
        const fields = { shard: keys.shard, queue, reason: reasonOf(error) }
        engine.logger.warn('A history of finished chains could not be looked after yet', fields)
        rest(lookFromMs, queue)
      })
      .finally(() => {
        const hasGrown = busy.get(queue) === true
        busy.delete(queue)
        if (hasGrown) ask(queue)
      })
  }

  return { ask }
}
