import { FAILURE_REASONS } from '../../domain/jobs/job.ts'
import type { LastFailure, QueueStatsEntry, QueueStats, QueueRef } from '../../ports/queues.ts'
import { step } from '../client/step.ts'
import { shardKeys, shardOfQueue, type Engine } from '../client/engine.ts'
import { QUEUE } from '../layout/fields.ts'
import { nameField, queueIdOf, splitNameField, type ShardKeys } from '../layout/keys.ts'

export const COUNT_QUEUES = step('count_queues', import.meta.url, {
  rows: { queues: { queueKeys: ['meta', 'ready', 'records', 'inFlight', 'deadLetters'] } },
})

/**
 * Queues that one step counts. On a busy machine, Redis 7.0 counted 10,000 queues in 4 shards in some 50 ms of CPU while all
 * were idle, in 66 ms with a job in each, and in 99 ms with ready jobs in each: 0.9 to 2.5 ms per step, names included.
 */
const COUNTED_BATCH_MAX = 250
const COUNTED_QUEUES_MAX = 10_000
/** Values that the step answers for each queue. */
const ANSWERED = 6
/** Names of a page, about. */
const PAGE_NAMES = 500

/** A queue to count, and its position in the answer. */
interface CountedQueue extends QueueRef {
  readonly at: number
  readonly localId: string
}

export function createQueueStats(engine: Engine): QueueStats {
  /** Rotates shards and buckets from call to call, so that the limit does not cut off the same queues each time. */
  let rotation = 0
  return {
    count: async (places) => {
      if (places.length > COUNTED_QUEUES_MAX) throw new Error(`${places.length} queues are too many to count`)
      const entries: Array<QueueStatsEntry | null> = places.map(() => null)
      const indexes = [...places.keys()]
      const byShard = Map.groupBy(indexes, (at) => shardOf(engine, places[at]))
      await Promise.all(
        [...byShard].map(async ([shard, ofShard]) => {
          for (let i = 0; i < ofShard.length; i += COUNTED_BATCH_MAX) {
            const page = ofShard.slice(i, i + COUNTED_BATCH_MAX)
            await countPage(engine, shardKeys(engine, shard), { places, page, entries })
          }
        }),
      )
      return entries
    },
    pushed: async (limit) => {
      rotation += 1
      const bucketRotation = Math.floor(rotation / engine.shards.length)
      const found = await Promise.all(
        rotated(engine.shards, rotation).map((keys) => drawPushed(engine, keys, { limit, bucketRotation })),
      )
      const queues = found.flatMap((ofShard) => ofShard.queues)
      const isMore = queues.length > limit || found.some((ofShard) => ofShard.isMore)
      return { queues: queues.slice(0, limit), isMore }
    },
    page: async (cursor) => {
      const [shard, scan] = cursor === null ? [0, '0'] : parseCursor(cursor)
      const keys = engine.shards[shard]
      if (keys === undefined) return { queues: [], cursor: null }
      const [next, flat] = await engine.runner.read((redis) =>
        redis.hscan(keys.queueIds, scan, 'COUNT', PAGE_NAMES),
      )
      const isLast = next === '0' && shard + 1 === engine.shards.length
      return {
        queues: await readPage(engine, keys, flat),
        cursor: isLast ? null : next === '0' ? `${shard + 1}:0` : `${shard}:${next}`,
      }
    },
  }
}

function shardOf(engine: Engine, place: QueueRef | undefined): number {
  return shardOfQueue(engine, place?.team ?? '', place?.name ?? '').shard
}

function parseCursor(cursor: string): [shard: number, scan: string] {
  const [shard = '', scan = '0'] = cursor.split(':')
  return [Number(shard), scan]
}

async function countPage(
  engine: Engine,
  keys: ShardKeys,
  {
    places,
    page,
    entries,
  }: { places: readonly QueueRef[]; page: readonly number[]; entries: Array<QueueStatsEntry | null> },
): Promise<void> {
  const named = page.map((at) => ({ at, ...(places[at] as QueueRef) }))
  const ids = await engine.runner.read((redis) =>
    redis.hmget(keys.queueIds, ...named.map(({ team, name }) => nameField(team, name))),
  )
  const asked = named.flatMap((place, i): CountedQueue[] => {
    const localId = ids[i]
    return typeof localId === 'string' ? [{ ...place, localId }] : []
  })
  if (asked.length === 0) return
  const reply = (await engine.runner.run(COUNT_QUEUES.with({ keys, queues: asked }))) as Array<
    string | number
  >
  const nowMs = Number(reply[0])
  for (const [i, place] of asked.entries()) {
    const answer = reply.slice(1 + i * ANSWERED, 1 + (i + 1) * ANSWERED)
    entries[place.at] = toEntry(engine, keys, place, { answer, nowMs })
  }
}

function toEntry(
  engine: Engine,
  keys: ShardKeys,
  { team, name, localId }: CountedQueue,
  { answer, nowMs }: { answer: ReadonlyArray<string | number>; nowMs: number },
): QueueStatsEntry | null {
  const [pending = -1, records = 0, processing = 0, dead = 0] = answer.slice(0, 4).map(Number)
  const [due, failure] = answer.slice(4)
  // The name is reserved, but the push or edit that makes the queue has not run yet.
  if (pending < 0) return null
  return {
    team,
    name,
    queueId: queueIdOf(localId, keys.shard, engine.shards.length),
    counts: { pending, delayed: Math.max(0, records - pending - processing), processing, dead },
    oldestReadyMs: due === '' ? null : Math.max(0, nowMs - Number(due)),
    lastFailure: lastFailureIn(String(failure), nowMs),
  }
}

/** null when there was none, or it cannot be read. */
function lastFailureIn(text: string, nowMs: number): LastFailure | null {
  const [, at = '', word] = /^(\d{13})\|(\w+)$/.exec(text) ?? []
  const reason = FAILURE_REASONS.find((known) => known === word)
  if (reason === undefined) return null
  return { atMs: Number(at), ageMs: Math.max(0, nowMs - Number(at)), reason }
}

/** Buckets of a shard that one call draws pushed queues from. */
const DRAWN_BUCKETS_MAX = 32

/** Random pushed queues of a shard. */
async function drawPushed(
  engine: Engine,
  keys: ShardKeys,
  { limit, bucketRotation }: { limit: number; bucketRotation: number },
): Promise<{ queues: QueueRef[]; isMore: boolean }> {
  const [count, buckets] = await engine.runner.read((redis) =>
    Promise.all([redis.scard(keys.pushedBuckets), redis.srandmember(keys.pushedBuckets, DRAWN_BUCKETS_MAX)]),
  )
  const keysOfBuckets = rotated(buckets, bucketRotation).map((bucket) => `${keys.pushedBuckets}:${bucket}`)
  // Random members up to the limit: a fixed order would cut off the same queues each time.
  const [sizes, drawn] = await engine.runner.read((redis) =>
    Promise.all([
      Promise.all(keysOfBuckets.map((bucket) => redis.scard(bucket))),
      Promise.all(keysOfBuckets.map((bucket) => redis.srandmember(bucket, limit))),
    ]),
  )
  const ids = drawn.flat().slice(0, limit)
  const names = await engine.runner.read((redis) =>
    Promise.all(ids.map((localId) => redis.hget(keys.queueKey('meta', localId), QUEUE.name))),
  )
  return {
    queues: names.filter((name) => name !== null).map(toRef),
    isMore: count > buckets.length || sizes.reduce((sum, size) => sum + size, 0) > limit,
  }
}

function rotated<T>(items: readonly T[], by: number): T[] {
  const first = items.length === 0 ? 0 : by % items.length
  return [...items.slice(first), ...items.slice(0, first)]
}

async function readPage(engine: Engine, keys: ShardKeys, flat: readonly string[]) {
  const names = flat.filter((_, i) => i % 2 === 0)
  const ids = flat.filter((_, i) => i % 2 === 1)
  const lives = await engine.runner.read((redis) =>
    Promise.all(
      ids.map((localId) => redis.hmget(keys.queueKey('meta', localId), QUEUE.settingsHash, QUEUE.compiled)),
    ),
  )
  return names.flatMap((field, i) => {
    const [hash, compiled] = lives[i] ?? []
    const isThere = hash !== null && hash !== undefined
    return isThere ? [{ ...toRef(field), isPushed: compiled !== '1' }] : []
  })
}

function toRef(field: string): QueueRef {
  const { team, queue } = splitNameField(field)
  return { team, name: queue }
}
