import { StoreUnavailableError } from '../domain/errors.ts'
import { STORE_DEADLINE_MS } from '../domain/limits.ts'
import type { QueueSettings } from '../domain/queue-settings.ts'
import type { Queue, QueueStore } from '../ports/queue-store.ts'
import { knownQueue, type KnownQueue } from './chain-reader.ts'
import { hintWake, shardKeys, shardOfQueue, type Engine } from './engine.ts'
import { decodeSettings, encodeSettings } from './job-record.ts'
import { nameField, queueIdOf } from './keys.ts'
import { createQueueNames, type QueueNames } from './queue-names.ts'
import { teamQueues } from './team-queues.ts'

/** A queue deleted and made again meanwhile is resolved anew this often. */
const APPLY_TRIES_MAX = 4

export function createQueueStore(engine: Engine): QueueStore {
  const names = createQueueNames(engine)
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
      return queue === null || queue.team !== team ? null : readQueue(engine, queue)
    },
    getByName: async (team, name) => {
      const [queue] = await teamQueues(engine, team, name)
      return queue === undefined ? null : readQueue(engine, queue)
    },
    apply: (team, name, settings) => apply(engine, names, team, name, settings),
    remove: (team, name) => remove(engine, team, name),
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

async function apply(
  engine: Engine,
  names: QueueNames,
  team: string,
  name: string,
  settings: QueueSettings,
): Promise<{ queueId: number }> {
  const keys = shardOfQueue(engine, team, name)
  const field = nameField(team, name)
  const { hash, json } = encodeSettings(settings)
  for (let tries = 0; tries < APPLY_TRIES_MAX; tries += 1) {
    const localId = await names.resolve(keys, field, STORE_DEADLINE_MS)
    if (localId === null) throw new StoreUnavailableError('it holds as many queues as it may')
    const k = keys.queue(localId)
    const answer = await engine.runner.run(
      'set_queue',
      [keys.names, keys.ring, keys.set, keys.setn, k.q, k.r, k.a],
      [
        ...[field, localId, hash, settings.timeoutSeconds, settings.maxParallelism ?? ''],
        ...[settings.isActive ? 1 : 0, settings.strictParallelism ? 1 : 0, json],
      ],
      STORE_DEADLINE_MS,
    )
    if (answer === 'moved') {
      names.forget(field)
      continue
    }
    if (answer === 1) hintWake(engine, keys.shard)
    return { queueId: queueIdOf(localId, keys.shard, engine.shards.length) }
  }
  throw new StoreUnavailableError('the queue is being deleted and made again')
}

async function remove(engine: Engine, team: string, name: string): Promise<'removed' | 'not_found'> {
  const [queue] = await teamQueues(engine, team, name)
  if (queue === undefined) return 'not_found'
  const { keys, localId } = queue
  const k = keys.queue(localId)
  const answer = await engine.runner.run(
    'delete_queue',
    [
      ...[keys.names, keys.ring, keys.gc, keys.cq, keys.set, keys.setn, keys.use],
      ...[k.q, k.r, k.a, k.x, k.h, k.c, k.cf, k.co, k.b, k.d, k.xb, k.p],
      ...(['b', 'd', 'xb', 'p'] as const).map((part) => keys.trash(localId, part)),
    ],
    [nameField(team, name), localId],
  )
  return answer === 'deleted' ? 'removed' : 'not_found'
}
