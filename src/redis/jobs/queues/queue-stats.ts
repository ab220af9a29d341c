import { FAILURE_REASONS } from '../../../domain/jobs/job.ts'
import { heldResources } from '../../../domain/windows/held-resources.ts'
import { NO_WINDOWS, type WindowSource } from '../../../ports/windows.ts'
import type { LastFailure, NotedLoss, QueueStatsEntry, QueueStats, QueueRef } from '../../../ports/queues.ts'
import { shardKeys, shardOfQueue, type Engine } from '../../base/engine/engine.ts'
import { LOSS_NOTED_MS } from '../losses/tell-loss.ts'
import { QUEUE } from '../../base/layout/fields.ts'
import { nameField, queueIdOf, splitNameField, type ShardKeys } from '../../base/layout/keys.ts'
import { READ_QUEUES_MAX, readParts, readySplitOf } from './queue-parts.ts'

const COUNTED_QUEUES_MAX = 10_000
/** A page has about this many names. */
const PAGE_NAMES = 500

/** A queue to count, and its position in the answer. */
interface CountedQueue extends QueueRef {
  readonly at: number
  readonly localId: string
}

/** @param windows these hold queues, whose jobs are stopped */
export function createQueueStats(engine: Engine, windows: WindowSource = NO_WINDOWS): QueueStats {
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
          for (let i = 0; i < ofShard.length; i += READ_QUEUES_MAX) {
            const page = ofShard.slice(i, i + READ_QUEUES_MAX)
            await countPage(engine, shardKeys(engine, shard), { places, page, entries, windows })
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
    windows,
  }: {
    places: readonly QueueRef[]
    page: readonly number[]
    entries: Array<QueueStatsEntry | null>
    windows: WindowSource
  },
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
  const found = await readParts(
    engine,
    keys,
    asked.map(({ localId }) => localId),
  )
  found.forEach((parts, i) => {
    const { nowMs, localId, settingsHash, counts, oldestReadyMs, lastFailure, lostJobs, throttle } = parts
    // The name is reserved, but the push or edit that makes the queue has not run yet.
    if (settingsHash === '') return
    const { team, name, at } = asked[i] as CountedQueue
    entries[at] = {
      team,
      name,
      queueId: queueIdOf(localId, keys.shard, engine.shards.length),
      counts,
      oldestReadyMs,
      split: readySplitOf(parts, isQueueHeld(windows, { team, name, nowMs })),
      lastFailure: lastFailureIn(lastFailure, nowMs),
      lostJobs: lostJobsIn(lostJobs, nowMs),
      throttle,
    }
  })
}

/** Whether a maintenance window holds the queue of this name. */
export function isQueueHeld(
  windows: WindowSource,
  { team, name, nowMs }: QueueRef & { readonly nowMs: number },
): boolean {
  return heldResources(windows.holds(nowMs)).untilOf(team, { kind: 'queue', name }) !== null
}

/** null = there was none, or it cannot be read. */
function lastFailureIn(text: string, nowMs: number): LastFailure | null {
  const [, at = '', word] = /^(\d{13})\|(\w+)$/.exec(text) ?? []
  const reason = FAILURE_REASONS.find((known) => known === word)
  if (reason === undefined) return null
  return { atMs: Number(at), ageMs: Math.max(0, nowMs - Number(at)), reason }
}

/** null = none was told of within the time that it stands for. */
function lostJobsIn(text: string, nowMs: number): NotedLoss | null {
  const [, at, count, from, to] = /^(\d{13})\|(\d+)\|(\d{13})\|(\d{13})$/.exec(text) ?? []
  const ageMs = Math.max(0, nowMs - Number(at))
  if (to === undefined || ageMs >= LOSS_NOTED_MS) return null
  return { count: Number(count), fromMs: Number(from), toMs: Number(to), ageMs }
}

/** One call draws pushed queues from at most this many buckets of a shard. */
const DRAWN_BUCKETS_MAX = 32

/** Draws random pushed queues of a shard. */
async function drawPushed(
  engine: Engine,
  keys: ShardKeys,
  { limit, bucketRotation }: { limit: number; bucketRotation: number },
): Promise<{ queues: QueueRef[]; isMore: boolean }> {
  const [count, buckets] = await engine.runner.read((redis) =>
    Promise.all([redis.scard(keys.pushedBuckets), redis.srandmember(keys.pushedBuckets, DRAWN_BUCKETS_MAX)]),
  )
  const keysOfBuckets = rotated(buckets, bucketRotation).map((bucket) => `${keys.pushedBuckets}:${bucket}`)
  // Random members are drawn up to the limit, because a fixed order would cut off the same queues each time.
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
