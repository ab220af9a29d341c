import { MINUTE_MS } from '../../domain/statistics/point.ts'
import type { Engine } from '../client/engine.ts'
import { STATISTICS } from '../layout/fields.ts'
import type { ShardKeys } from '../layout/keys.ts'
import { createCountTurn } from './count-turn.ts'
import { foldPage } from './folder.ts'
import { sampleQueues } from './sampler.ts'
import { settleMinutes } from './settler.ts'

/** Pages of the log that one call folds; the next call goes on. */
const PAGES_MAX = 50
/** Most crons tick at a full minute: queues are counted when those runs are written and claimed. */
const COUNTED_AFTER_MS = 15_000

/**
 * Answers what keeps the statistics of a shard. Every executor calls it every few seconds: all fold the log, and one of
 * them counts the queues of each minute, from its second 15 on, and settles what is over. What an executor that dies has not done,
 * the next does.
 */
export function createStatistician(engine: Engine, keys: ShardKeys): () => Promise<void> {
  /** No count is due before the next minute, by this executor's last reading. */
  let doneMinute = -1
  const takeTurn = createCountTurn(engine, keys)
  return async () => {
    for (let page = 0; page < PAGES_MAX; page += 1) {
      if ((await foldPage(engine, keys)) !== 'more') break
    }
    const nowMs = engine.runner.redisNowMs(keys.shard)
    const minute = Math.floor((nowMs - COUNTED_AFTER_MS) / MINUTE_MS)
    if (minute === doneMinute) return
    const sampled = await engine.runner.read((redis) => redis.hget(keys.statistics, STATISTICS.sampledMinute))
    // Clocks that differ a little do not make it due twice; one that was set back does.
    const isDue = minute > Number(sampled ?? 0) || minute < Number(sampled ?? 0) - 1
    // Another counts it, or the next call tries again.
    if (isDue && !(await takeTurn())) return
    if (isDue && !(await sampleQueues(engine, keys, minute))) return
    doneMinute = minute
    if (isDue) await settleMinutes(engine, keys, Math.floor(nowMs / MINUTE_MS))
  }
}
