import type { QueueSettings } from '../domain/queue-settings.ts'
import type { Queue, QueueStore } from '../ports/queue-store.ts'
import { knownQueue, type KnownQueue } from './chain-reader.ts'
import { shardKeys, type Engine } from './engine.ts'
import { decodeSettings } from './job-record.ts'
import { queueIdOf } from './keys.ts'
import { createQueueWriter } from './queue-writer.ts'
import { teamQueues } from './team-queues.ts'

const WITHOUT_TERM = 'a write without a term was superseded'

export function createQueueStore(engine: Engine): QueueStore {
  const writer = createQueueWriter(engine, { term: null, isCompiled: false })
  return {
    list: async ({ team, limit, cursor }) => {
      const after = cursor === null ? null : parseCursor(cursor)
      if (after === 'bad_cursor') return 'bad_cursor'
      const all = await teamQueues(engine, team, null)
      const rest = after === null ? all : all.filter((queue) => queue.name > after.name)
      const queues = await Promise.all(rest.slice(0, limit).map((queue) => readQueue(engine, queue)))
      const last = rest[limit - 1]
      const isMore = rest.length > limit && last !== undefined
      return {
        queues: queues.filter((queue) => queue !== null),
        nextCursor: isMore ? Buffer.from(JSON.stringify([last.name])).toString('base64url') : null,
      }
    },
    get: async (team, queueId) => {
      const shard = queueId % engine.shards.length
      const localId = String(Math.floor(queueId / engine.shards.length))
      const queue = await knownQueue(engine, shardKeys(engine, shard), localId)
      // A cron's hidden queue has its cron's id, and is nobody's to see.
      const isHidden = queue === null || queue.team !== team || queue.name === ''
      return isHidden ? null : readQueue(engine, queue)
    },
    getByName: async (team, name) => {
      const [queue] = await teamQueues(engine, team, name)
      return queue === undefined ? null : readQueue(engine, queue)
    },
    apply: async (team, name, settings) => {
      const end = await writer.apply(team, name, settings)
      if (end.status === 'superseded') throw new Error(WITHOUT_TERM)
      return { queueId: end.queueId }
    },
    remove: async (team, name) => {
      const end = await writer.remove(team, name)
      if (end === 'superseded') throw new Error(WITHOUT_TERM)
      return end
    },
  }
}

function parseCursor(text: string): { name: string } | 'bad_cursor' {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    const name: unknown = Array.isArray(parsed) && parsed.length === 1 ? parsed[0] : null
    return typeof name === 'string' ? { name } : 'bad_cursor'
  } catch {
    return 'bad_cursor'
  }
}

/** null when the name is reserved but the queue was not made yet, or was deleted. */
async function readQueue(engine: Engine, queue: KnownQueue): Promise<Queue | null> {
  const k = queue.keys.queue(queue.localId)
  const [live, ready, jobs, inFlight, dead] = await engine.runner.read((redis) =>
    Promise.all([
      redis.hmget(k.q, 's', 'a', 'm', 'k', 'g'),
      redis.llen(k.r),
      redis.hlen(k.b),
      redis.zcard(k.a),
      redis.zcard(k.x),
    ]),
  )
  const [hash, active, max, strict, gone] = live
  if (hash === undefined || hash === null) return null
  const json = await engine.runner.read((redis) => redis.hget(queue.keys.set, hash))
  if (json === null) return null
  const pending = ready - Number(gone ?? 0)
  const settings: QueueSettings = {
    ...decodeSettings(json),
    isActive: active === '1',
    maxParallelism: max === undefined || max === null ? null : Number(max),
    strictParallelism: strict === '1',
  }
  return {
    queueId: queueIdOf(queue.localId, queue.keys.shard, engine.shards.length),
    team: queue.team,
    name: queue.name,
    settings,
    // The reads are not one step: a job on its way between two places may be missed by one of them.
    counts: { pending, delayed: Math.max(0, jobs - pending - inFlight), processing: inFlight, dead },
  }
}
