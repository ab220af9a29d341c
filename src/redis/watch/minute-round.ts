import { MINUTE_MS } from '../../domain/statistics/point.ts'
import { NO_WINDOWS, type WindowSource } from '../../ports/windows.ts'
import type { Engine } from '../base/engine/engine.ts'
import { ShardLock } from '../base/engine/shard-lock.ts'
import { STATISTICS } from '../base/layout/fields.ts'
import type { ShardKeys } from '../base/layout/keys.ts'
import { HeldQueues } from '../jobs/execute/claim/held-queues.ts'
import { occupiedQueues } from '../jobs/queues/occupied-queues.ts'
import { createLimitScanner } from './limit-warnings/limit-scan.ts'
import type { LimitScanOptions } from './limit-warnings/team-scan.ts'
import { foldPage } from './statistics/folder.ts'
import { sampleQueues } from './statistics/sampler.ts'
import { settleMinutes } from './statistics/settler.ts'

/** One call folds at most this many pages of the log; the next call goes on. */
const PAGES_MAX = 50
/** Most crons tick at a full minute, so queues are counted when those runs are written and claimed. */
const BEGINS_AFTER_MS = 15_000
/** Longer than a round takes. */
export const ROUND_LOCK_MS = 10_000

/**
 * Makes the round that watches a shard. Every executor calls it every few seconds, and each call folds the log of ended
 * jobs. From second 15 of a minute on, one of the executors reads the queues in which something may go on, counts them
 * for the statistics, raises and clears their limit warnings, and settles the minutes that are over. What an executor
 * that dies has not done, the next does, or the next minute.
 *
 * @param windows these hold queues, whose jobs are stopped
 * @param limits what limit warnings are judged by; null = there are none
 */
export function createMinuteRound(
  engine: Engine,
  keys: ShardKeys,
  windows: WindowSource = NO_WINDOWS,
  limits: Omit<LimitScanOptions, 'windows'> | null = null,
): () => Promise<void> {
  /** By this executor's last reading, no round is due before the minute after this one. */
  let doneMinute = -1
  const lock = new ShardLock(engine, {
    key: keys.roundLock,
    leaseMs: ROUND_LOCK_MS,
    former: [{ hash: keys.statistics, field: STATISTICS.lockEndsAt }],
  })
  const beginScan = limits === null ? null : createLimitScanner(engine, keys, { ...limits, windows })
  const held = new HeldQueues(engine, keys, windows)
  return async () => {
    for (let page = 0; page < PAGES_MAX; page += 1) {
      if ((await foldPage(engine, keys)) !== 'more') break
    }
    const nowMs = engine.runner.redisNowMs(keys.shard)
    const minute = Math.floor((nowMs - BEGINS_AFTER_MS) / MINUTE_MS)
    if (minute === doneMinute) return
    const sampled = await engine.runner.read((redis) => redis.hget(keys.statistics, STATISTICS.sampledMinute))
    // Clocks that differ a little do not make it due twice; one that was set back does.
    const isDue = minute > Number(sampled ?? 0) || minute < Number(sampled ?? 0) - 1
    if (isDue) {
      // Another executor does it, or the next call tries again.
      if (!(await lock.take())) return
      const occupied = await occupiedQueues(engine, keys)
      const scan = beginScan === null ? null : await beginScan(minute, occupied)
      const isCounted = await sampleQueues(engine, keys, { minute, occupied, held, scan })
      await scan?.scanTeams()
      if (!isCounted) return
    }
    doneMinute = minute
    if (isDue) await settleMinutes(engine, keys, Math.floor(nowMs / MINUTE_MS))
  }
}
