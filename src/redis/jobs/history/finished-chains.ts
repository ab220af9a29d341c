import { TRIM_BATCH_MAX } from '../../../domain/limits.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'
import { QUEUE } from '../../base/layout/fields.ts'
import { decodeFinished } from '../../base/layout/finished-record.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'
import { jobIndexOf } from '../../ledger/retention/indexed-job.ts'
import { timeIn } from '../../ledger/retention/time-in.ts'

export const TRIM = step('trim', import.meta.url, {
  keys: ['teamUsage', 'shardUsage', 'sealedHistories'],
  queueKeys: ['history', 'summaries', 'meta', 'blocks'],
  args: ['localId'],
  rows: { chains: { keys: ['jobIndex'], args: ['root', 'field'] } },
})

/** A younger finished chain stays, because a resent enqueue must still find its index entry. */
export const TRIM_AGE_MS_MIN = 30_000

/**
 * Forgets one page of a queue's finished chains past their age, and of a cron's those over the count. Answers how many.
 */
export async function trimFinished(engine: Engine, keys: ShardKeys, localId: string): Promise<number> {
  const { history, summaries, meta } = keys.queue(localId)
  const [length, tail, cron] = await engine.runner.read((redis) =>
    Promise.all([
      redis.llen(history),
      redis.lrange(history, -TRIM_BATCH_MAX, -1),
      redis.hget(meta, QUEUE.cronId),
    ]),
  )
  if (tail.length === 0) return 0
  const records = await engine.runner.read((redis) => redis.hmget(summaries, ...tail))
  const { finishedChainsPerCronMax, finishedChainsMs } = engine.retention
  const lengthMax = cron === null ? Number.POSITIVE_INFINITY : finishedChainsPerCronMax
  const nowMs = engine.runner.redisNowMs(keys.shard)
  // The tail runs from newer to older, so it is counted from its old end.
  let count = 0
  while (count < tail.length) {
    const ageMs = nowMs - chainEndMs(records[tail.length - 1 - count] ?? null)
    const isOver = length - count > lengthMax || ageMs > finishedChainsMs
    if (!isOver || ageMs < TRIM_AGE_MS_MIN) break
    count += 1
  }
  return count === 0 ? 0 : forgetChains(engine, keys, localId, tail.slice(-count))
}

/** @param roots the oldest chains of the history, from newer to older; at most TRIM_BATCH_MAX */
export async function forgetChains(
  engine: Engine,
  keys: ShardKeys,
  localId: string,
  roots: readonly string[],
): Promise<number> {
  const chains = roots.map((root) => ({ root, ...jobIndexOf(engine, keys, Number(root)) }))
  return (await engine.runner.run(TRIM.with({ keys, localId, chains }))) as number
}

/** Is 0 for a summary that is missing or damaged, so that it is the first to go. */
export function chainEndMs(summary: string | null): number {
  return timeIn(summary, (text) => decodeFinished(text).attempts.at(-1)?.completedAtMs)
}
