import { PROMOTE_BATCH_MAX, REAP_BATCH_MAX, TRIM_BATCH_MAX, LEASE_MS } from '../../domain/limits.ts'
import type { Engine } from '../client/engine.ts'
import { inTurn } from './in-turn.ts'
import { decodeFinished } from '../layout/finished-record.ts'
import { indexPlace, type ShardKeys } from '../layout/keys.ts'
import type { Argument } from '../client/step.ts'

/** A finished chain younger than this stays: a resent enqueue must still find its index entry. */
const TRIM_AGE_MS_MIN = 30_000
/** How soon a queue is looked at again when its history changed under the look. */
const RESCHEDULE_RETRY_MS = 60_000

/** Index blocks that a page of chains touches, each declared once. */
class IndexBlocks {
  readonly keys: string[] = []
  readonly #positions = new Map<number, number>()
  readonly #shard: ShardKeys
  readonly #engine: Engine

  constructor(engine: Engine, shard: ShardKeys) {
    this.#engine = engine
    this.#shard = shard
  }

  /** The arguments that point at a job's index entry: block position (from 1) and field. */
  argumentsOf(jobId: number): [number, string] {
    const { block, field } = indexPlace(this.#engine.jobIds.seqOf(jobId))
    let position = this.#positions.get(block)
    if (position === undefined) {
      position = this.keys.push(this.#shard.jobIndex(block))
      this.#positions.set(block, position)
    }
    return [position, field]
  }
}

/** Forgets a queue's finished chains over the count or the age, one page. Answers how many went. */
export async function trimFinished(engine: Engine, shard: ShardKeys, queue: string): Promise<number> {
  const keys = shard.queue(queue)
  const { finishedChainsMax, finishedChainsPerCronMax, finishedChainsMs } = engine.retention
  const nowMs = engine.runner.redisNowMs(shard.shard)
  const [length, tail, cron] = await engine.runner.read((redis) =>
    Promise.all([
      redis.llen(keys.history),
      redis.lrange(keys.history, -TRIM_BATCH_MAX, -1),
      // Whose hidden queue it is.
      redis.hget(keys.meta, 'o'),
    ]),
  )
  if (tail.length === 0) return 0
  const records = await engine.runner.read((redis) => redis.hmget(keys.summaries, ...tail))
  const lengthMax = cron === null ? finishedChainsMax : Math.min(finishedChainsMax, finishedChainsPerCronMax)
  // The tail runs from newer to older; count from its old end.
  let count = 0
  while (count < tail.length) {
    const at = tail.length - 1 - count
    const endedAtMs = endOf(records[at] ?? null)
    const ageMs = nowMs - endedAtMs
    const isOver = length - count > lengthMax || ageMs > finishedChainsMs
    if (!isOver || ageMs < TRIM_AGE_MS_MIN) break
    count += 1
  }
  if (count === 0) return 0
  const blocks = new IndexBlocks(engine, shard)
  const chains = tail.slice(-count).flatMap((root): Argument[] => [root, ...blocks.argumentsOf(Number(root))])
  return (await engine.runner.run({
    name: 'trim',
    keys: [keys.history, keys.summaries, keys.meta, shard.teamUsage, ...blocks.keys],
    args: [queue, count, ...chains],
  })) as number
}

function endOf(record: string | null): number {
  return timeIn(record, (text) => decodeFinished(text).attempts.at(-1)?.completedAtMs)
}

/** 0, so that it is the first to go, for a record that is gone or cannot be read. */
function timeIn(record: string | null, read: (text: string) => number | undefined): number {
  try {
    return record === null ? 0 : (read(record) ?? 0)
  } catch {
    return 0
  }
}

/** One page of what is due by `gc`: dead letters past their retention, old chains, trash. Answers whether more is due. */
export async function collectGarbage(engine: Engine, shard: ShardKeys): Promise<boolean> {
  const nowMs = engine.runner.redisNowMs(shard.shard)
  const due = await engine.runner.read((redis) =>
    redis.zrangebyscore(shard.retentionDue, '-inf', nowMs, 'LIMIT', 0, 16),
  )
  let isMore = due.length === 16
  await inTurn(due, async (member) => {
    const hasMore = member.startsWith('t')
      ? await emptyTrash(engine, shard, member.slice(1))
      : await forgetOld(engine, shard, member)
    isMore ||= hasMore
  })
  return isMore
}

async function forgetOld(engine: Engine, shard: ShardKeys, queue: string): Promise<boolean> {
  const purged = await purgeDue(engine, shard, queue)
  const trimmed = await trimFinished(engine, shard, queue)
  if (purged === REAP_BATCH_MAX || trimmed === TRIM_BATCH_MAX) return true
  const keys = shard.queue(queue)
  const [oldest] = await engine.runner.read((redis) => redis.lrange(keys.history, -1, -1))
  const record =
    oldest === undefined ? null : await engine.runner.read((redis) => redis.hget(keys.summaries, oldest))
  const nextMs = record === null ? '' : endOf(record) + engine.retention.finishedChainsMs
  await engine.runner.run({
    name: 'reschedule',
    keys: [shard.clock, shard.executors, shard.retentionDue, keys.deadLetters, keys.history],
    args: [LEASE_MS, queue, nextMs, RESCHEDULE_RETRY_MS],
  })
  return false
}

async function purgeDue(engine: Engine, shard: ShardKeys, queue: string): Promise<number> {
  const keys = shard.queue(queue)
  const nowMs = engine.runner.redisNowMs(shard.shard)
  const roots = await engine.runner.read((redis) =>
    redis.zrangebyscore(keys.deadLetters, '-inf', nowMs, 'LIMIT', 0, REAP_BATCH_MAX),
  )
  return purgeDeadLetters(engine, shard, queue, roots, true)
}

/** Removes dead letters for good. Answers how many there were. */
export async function purgeDeadLetters(
  engine: Engine,
  shard: ShardKeys,
  queue: string,
  roots: readonly string[],
  onlyDue: boolean,
): Promise<number> {
  if (roots.length === 0) return 0
  const keys = shard.queue(queue)
  const blocks = new IndexBlocks(engine, shard)
  const letters = roots.flatMap((root): Argument[] => [
    root,
    engine.jobIds.seqOf(Number(root)),
    ...blocks.argumentsOf(Number(root)),
  ])
  return (await engine.runner.run({
    name: 'purge',
    keys: [
      shard.clock,
      shard.executors,
      keys.deadLetters,
      keys.deadLetterRecords,
      keys.payloads,
      keys.meta,
      shard.teamUsage,
      ...blocks.keys,
    ],
    args: [LEASE_MS, queue, onlyDue ? 1 : 0, ...letters],
  })) as number
}

async function emptyTrash(engine: Engine, shard: ShardKeys, queue: string): Promise<boolean> {
  const keys = shard.queue(queue)
  const parts = [
    ['b', keys.trashedRecords],
    ['d', keys.trashedSummaries],
    ['x', keys.trashedDeadLetterRecords],
  ] as const
  const blocks = new IndexBlocks(engine, shard)
  const entries: Argument[] = []
  for (const [kind, key] of parts) {
    const room = PROMOTE_BATCH_MAX - entries.length / 4
    if (room <= 0) break
    const ids = (await engine.runner.read((redis) => redis.hrandfield(key, room))) as string[] | null
    for (const id of ids ?? []) entries.push(kind, id, ...blocks.argumentsOf(Number(id)))
  }
  const left = await engine.runner.run({
    name: 'empty_trash',
    keys: [
      shard.retentionDue,
      shard.settings,
      shard.settingsUses,
      ...parts.map(([, key]) => key),
      keys.trashedPayloads,
      shard.teamUsage,
      shard.shardUsage,
      ...blocks.keys,
    ],
    args: [queue, engine.shards.length, ...entries],
  })
  return left === 1
}

/** One page of call records past their age, or the oldest ones while the shard's bytes are nearly used up. */
export async function evictCalls(engine: Engine, shard: ShardKeys): Promise<boolean> {
  const { callRecordsMs, callRecordsBytesMax } = engine.retention
  const cutMs = engine.runner.redisNowMs(shard.shard) - callRecordsMs
  const [bytes, oldest] = await engine.runner.read((redis) =>
    Promise.all([
      redis.hget(shard.shardUsage, 'calls'),
      redis.zrange(shard.oldestCalls, '0', '15', 'WITHSCORES'),
    ]),
  )
  const isFull = Number(bytes ?? 0) > (callRecordsBytesMax / engine.shards.length) * 0.9
  let isMore = false
  const places = Array.from({ length: oldest.length / 2 }, (_, place) => place)
  await inTurn(places, async (place) => {
    const [queue = '', sinceMs] = oldest.slice(2 * place)
    const mayGo = isFull && place === 0
    if (Number(sinceMs) > cutMs && !mayGo) return
    const hasMore = await evictQueueCalls(engine, shard, queue, mayGo ? Number.POSITIVE_INFINITY : cutMs)
    isMore ||= hasMore
  })
  return isMore
}

async function evictQueueCalls(
  engine: Engine,
  shard: ShardKeys,
  queue: string,
  cutMs: number,
): Promise<boolean> {
  const keys = shard.queue(queue)
  let evicted = 0
  for (const list of [keys.failedCalls, keys.successfulCalls]) {
    const tail = await engine.runner.read((redis) => redis.lrange(list, -REAP_BATCH_MAX / 2, -1))
    const records =
      tail.length === 0 ? [] : await engine.runner.read((redis) => redis.hmget(keys.callRecords, ...tail))
    let count = 0
    while (count < tail.length && startOf(records[tail.length - 1 - count] ?? null) <= cutMs) count += 1
    const others = list === keys.failedCalls ? keys.successfulCalls : keys.failedCalls
    const stays = tail[tail.length - 1 - count]
    const oldestMs = await oldestCall(engine, keys.callRecords, others, stays)
    const ids = count === 0 ? [] : tail.slice(-count)
    await engine.runner.run({
      name: 'evict_calls',
      keys: [keys.callRecords, list, shard.shardUsage, shard.oldestCalls, keys.meta, shard.teamUsage],
      args: [queue, oldestMs, ...ids],
    })
    evicted += count
  }
  return evicted >= REAP_BATCH_MAX / 2
}

/** When the oldest call that stays began: of one list's rest and the other list's tail; '' when none stays. */
async function oldestCall(
  engine: Engine,
  callsKey: string,
  otherList: string,
  stays: string | undefined,
): Promise<number | ''> {
  const [other] = await engine.runner.read((redis) => redis.lrange(otherList, -1, -1))
  const ids = [stays, other].filter((id) => id !== undefined)
  if (ids.length === 0) return ''
  const records = await engine.runner.read((redis) => redis.hmget(callsKey, ...ids))
  return Math.min(...records.map((record) => startOf(record)))
}

function startOf(record: string | null): number {
  return timeIn(record, (text) => (JSON.parse(text) as { startedAtMs: number }).startedAtMs)
}
