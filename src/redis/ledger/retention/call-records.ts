import type { SetAside } from '../../../domain/set-aside.ts'
import { REAP_BATCH_MAX } from '../../../domain/limits.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'
import { SHARD_USAGE } from '../../base/layout/fields.ts'
import type { QueueKeys, ShardKeys } from '../../base/layout/keys.ts'
import { timeIn } from './time-in.ts'
import { settleEach } from './settle-each.ts'

export const EVICT_CALLS = step('evict_calls', import.meta.url, {
  keys: ['callList', 'shardUsage', 'oldestCalls', 'teamUsage'],
  queueKeys: ['callRecords', 'meta'],
  args: ['localId', 'oldestMs'],
  rest: 'callIds',
})

const QUEUES_PAGE = 16
const CALLS_PAGE = REAP_BATCH_MAX / 2
/** Part of the shard's bytes from which the oldest records go before their time. */
const FULL_PART = 0.9

/** Forgets one page of call records past their age, or the oldest ones while the shard's bytes are nearly used up. */
export async function evictCalls(engine: Engine, keys: ShardKeys, setAside: SetAside): Promise<boolean> {
  const { callRecordsMs, callRecordsBytesMax } = engine.retention
  const cutMs = engine.runner.redisNowMs(keys.shard) - callRecordsMs
  const [bytes, oldest] = await engine.runner.read((redis) =>
    Promise.all([
      redis.hget(keys.shardUsage, SHARD_USAGE.callBytes),
      redis.zrange(keys.oldestCalls, '0', String(QUEUES_PAGE - 1), 'WITHSCORES'),
    ]),
  )
  const isFull = Number(bytes ?? 0) > (callRecordsBytesMax / engine.shards.length) * FULL_PART
  let isMore = false
  const evict = async (at: number): Promise<void> => {
    const [localId = '', sinceMs] = oldest.slice(2 * at)
    const isForced = isFull && at === 0
    if (Number(sinceMs) > cutMs && !isForced) return
    const evicted = await evictQueue(engine, keys, {
      localId,
      cutMs: isForced ? Number.POSITIVE_INFINITY : cutMs,
    })
    isMore ||= evicted >= CALLS_PAGE
  }
  await settleEach(Array.from({ length: oldest.length / 2 }).keys(), {
    setAside,
    nameOf: (at) => ({ shard: keys.shard, queue: oldest[2 * at] ?? '' }),
    run: evict,
  })
  return isMore
}

async function evictQueue(
  engine: Engine,
  keys: ShardKeys,
  { localId, cutMs }: { localId: string; cutMs: number },
): Promise<number> {
  const queue = keys.queue(localId)
  let evicted = 0
  for (const [callList, otherList] of [
    [queue.failedCalls, queue.successfulCalls],
    [queue.successfulCalls, queue.failedCalls],
  ] as const) {
    const tail = await engine.runner.read((redis) => redis.lrange(callList, -CALLS_PAGE, -1))
    const records =
      tail.length === 0 ? [] : await engine.runner.read((redis) => redis.hmget(queue.callRecords, ...tail))
    let count = 0
    while (count < tail.length && callStartMs(records[tail.length - 1 - count] ?? null) <= cutMs) count += 1
    const oldestMs = await oldestCallMs(engine, queue, { otherList, stays: tail[tail.length - 1 - count] })
    const callIds = count === 0 ? [] : tail.slice(-count)
    await engine.runner.run(EVICT_CALLS.with({ keys, callList, localId, oldestMs, callIds }))
    evicted += count
  }
  return evicted
}

/** Start of the oldest call that stays: of one list's rest and the other list's tail; '' when none stays. */
async function oldestCallMs(
  engine: Engine,
  { callRecords }: QueueKeys,
  { otherList, stays }: { otherList: string; stays: string | undefined },
): Promise<number | ''> {
  const [other] = await engine.runner.read((redis) => redis.lrange(otherList, -1, -1))
  const ids = [stays, other].filter((id) => id !== undefined)
  if (ids.length === 0) return ''
  const records = await engine.runner.read((redis) => redis.hmget(callRecords, ...ids))
  return Math.min(...records.map((record) => callStartMs(record)))
}

function callStartMs(record: string | null): number {
  return timeIn(record, (text) => (JSON.parse(text) as { startedAtMs: number }).startedAtMs)
}
