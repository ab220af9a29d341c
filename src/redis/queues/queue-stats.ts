import type { QueueStatsEntry, QueueStats, QueueRef } from '../../ports/queues.ts'
import { step } from '../client/step.ts'
import { shardKeys, shardOfQueue, type Engine } from '../client/engine.ts'
import { nameField, queueIdOf, splitNameField, type ShardKeys } from '../layout/keys.ts'

export const COUNT_QUEUES = step('count_queues', import.meta.url, {
  rows: { queues: { queueKeys: ['meta', 'ready', 'records', 'inFlight', 'deadLetters'] } },
})

/**
 * Queues one step counts. On Redis 7.0 and a busy machine a round over 10,000 queues in 4 shards took it 36 ms of CPU
 * while all were idle, 66 ms with a job in each, 99 ms with jobs ready in each: 0.9 to 2.5 ms a step, names included.
 */
const COUNTED_BATCH_MAX = 250
const COUNTED_QUEUES_MAX = 10_000
/** What one step answers of a queue: ready, records, in flight, dead, due. */
const ANSWERED = 5
/** Names one page of a shard holds, or a few more. */
const PAGE_NAMES = 500

/** A queue that was asked for: where in the order, and where it lives. */
interface Asked extends QueueRef {
  readonly at: number
  readonly localId: string
}

export function createQueueStats(engine: Engine): QueueStats {
  /** Which shard's and which bucket's pushed queues come first: others each time, so that none is always cut off. */
  let turn = 0
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
      turn += 1
      const round = Math.floor(turn / engine.shards.length)
      const inTurn = rotated(engine.shards, turn)
      const found = await Promise.all(inTurn.map((keys) => pushedOf(engine, keys, { limit, round })))
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
  round: { places: readonly QueueRef[]; page: readonly number[]; entries: Array<QueueStatsEntry | null> },
): Promise<void> {
  const named = round.page.map((at) => ({ at, ...(round.places[at] as QueueRef) }))
  const ids = await engine.runner.read((redis) =>
    redis.hmget(keys.queueIds, ...named.map(({ team, name }) => nameField(team, name))),
  )
  const asked = named.flatMap((place, i): Asked[] => {
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
    round.entries[place.at] = toEntry(engine, keys, place, { answer, nowMs })
  }
}

function toEntry(
  engine: Engine,
  keys: ShardKeys,
  { team, name, localId }: Asked,
  { answer, nowMs }: { answer: ReadonlyArray<string | number>; nowMs: number },
): QueueStatsEntry | null {
  const [pending = -1, records = 0, processing = 0, dead = 0] = answer.slice(0, 4).map(Number)
  const due = answer[4]
  // Reserved by a push or an edit that has not come yet.
  if (pending < 0) return null
  return {
    team,
    name,
    queueId: queueIdOf(localId, keys.shard, engine.shards.length),
    counts: { pending, delayed: Math.max(0, records - pending - processing), processing, dead },
    oldestReadyMs: due === '' ? null : Math.max(0, nowMs - Number(due)),
  }
}

/** Buckets of a shard's pushed queues one look draws from. */
const DRAWN_BUCKETS_MAX = 32

/** Any of a shard's pushed queues, others each time when there are more. */
async function pushedOf(
  engine: Engine,
  keys: ShardKeys,
  { limit, round }: { limit: number; round: number },
): Promise<{ queues: QueueRef[]; isMore: boolean }> {
  const [count, buckets] = await engine.runner.read((redis) =>
    Promise.all([redis.scard(keys.pushedBuckets), redis.srandmember(keys.pushedBuckets, DRAWN_BUCKETS_MAX)]),
  )
  const inTurn = rotated(buckets, round).map((bucket) => `${keys.pushedBuckets}:${bucket}`)
  // Drawn to the limit and no further: what is cut off must not be the same ones always.
  const [sizes, drawn] = await engine.runner.read((redis) =>
    Promise.all([
      Promise.all(inTurn.map((bucket) => redis.scard(bucket))),
      Promise.all(inTurn.map((bucket) => redis.srandmember(bucket, limit))),
    ]),
  )
  const ids = drawn.flat().slice(0, limit)
  const names = await engine.runner.read((redis) =>
    Promise.all(ids.map((localId) => redis.hget(keys.queue(localId).meta, 'n'))),
  )
  return {
    queues: names.filter((name) => name !== null).map(toPlace),
    isMore: count > buckets.length || sizes.reduce((sum, size) => sum + size, 0) > limit,
  }
}

function rotated<T>(items: readonly T[], turn: number): T[] {
  const first = items.length === 0 ? 0 : turn % items.length
  return [...items.slice(first), ...items.slice(0, first)]
}

async function readPage(engine: Engine, keys: ShardKeys, flat: readonly string[]) {
  const names = flat.filter((_, i) => i % 2 === 0)
  const ids = flat.filter((_, i) => i % 2 === 1)
  const lives = await engine.runner.read((redis) =>
    Promise.all(ids.map((localId) => redis.hmget(keys.queue(localId).meta, 's', 'c'))),
  )
  return names.flatMap((field, i) => {
    const [hash, compiled] = lives[i] ?? []
    const isThere = hash !== null && hash !== undefined
    return isThere ? [{ ...toPlace(field), isPushed: compiled !== '1' }] : []
  })
}

function toPlace(field: string): QueueRef {
  const { team, queue } = splitNameField(field)
  return { team, name: queue }
}
