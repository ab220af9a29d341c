import { TRIM_BATCH_MAX } from '../../domain/limits.ts'
import type { Engine } from '../client/engine.ts'
import { step } from '../client/step.ts'
import { QUEUE } from '../layout/fields.ts'
import { decodeFinished } from '../layout/finished-record.ts'
import { indexPlace, type ShardKeys } from '../layout/keys.ts'

export const TRIM = step('trim', import.meta.url, {
  keys: ['teamUsage'],
  queueKeys: ['history', 'summaries', 'meta'],
  args: ['localId'],
  rows: { chains: { keys: ['jobIndex'], args: ['root', 'field'] } },
})

/** A finished chain younger than this stays: a resent enqueue must still find its index entry. */
const TRIM_AGE_MS_MIN = 30_000

/** Forgets one page of a queue's finished chains that exceed the count or the age. Answers how many. */
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
  const { finishedChainsMax, finishedChainsPerCronMax, finishedChainsMs } = engine.retention
  const lengthMax = cron === null ? finishedChainsMax : Math.min(finishedChainsMax, finishedChainsPerCronMax)
  const nowMs = engine.runner.redisNowMs(keys.shard)
  // The tail runs from newer to older; count from its old end.
  let count = 0
  while (count < tail.length) {
    const ageMs = nowMs - chainEndMs(records[tail.length - 1 - count] ?? null)
    const isOver = length - count > lengthMax || ageMs > finishedChainsMs
    if (!isOver || ageMs < TRIM_AGE_MS_MIN) break
    count += 1
  }
  if (count === 0) return 0
  const chains = tail.slice(-count).map((root) => ({ root, ...jobIndexOf(engine, keys, Number(root)) }))
  return (await engine.runner.run(TRIM.with({ keys, localId, chains }))) as number
}

/** Where the index holds a job. */
export function jobIndexOf(
  engine: Engine,
  keys: ShardKeys,
  jobId: number,
): { jobIndex: string; field: string } {
  const { block, field } = indexPlace(engine.jobIds.seqOf(jobId))
  return { jobIndex: keys.jobIndex(block), field }
}

/** 0 for a summary that is missing or damaged, so that it is the first to go. */
export function chainEndMs(summary: string | null): number {
  return timeIn(summary, (text) => decodeFinished(text).attempts.at(-1)?.completedAtMs)
}

/** 0 for a record that is missing or damaged. */
export function timeIn(record: string | null, read: (text: string) => number | undefined): number {
  try {
    return record === null ? 0 : (read(record) ?? 0)
  } catch {
    return 0
  }
}
