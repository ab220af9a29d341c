import type { Queue, QueueStore } from '../../ports/queues.ts'
import { knownQueue, type KnownQueue } from '../chains/known-queue.ts'
import { shardKeys, type Engine } from '../client/engine.ts'
import { formatCursor, parseCursor } from '../names/list-cursor.ts'
import { readQueues } from './queue-reader.ts'
import { QueueWriter } from './queue-writer.ts'
import { queueNamed, teamNames } from '../names/team-names.ts'

/** Names in one line of the log. */
const DAMAGED_NAMED_MAX = 5
const WITHOUT_EPOCH = 'a write without an epoch was superseded'

export function createQueueStore(engine: Engine): QueueStore {
  const writer = new QueueWriter(engine, { epoch: null, isCompiled: false })
  return {
    list: (query) => list(engine, query),
    get: async (team, queueId) => {
      const shard = queueId % engine.shards.length
      const localId = String(Math.floor(queueId / engine.shards.length))
      const queue = await knownQueue(engine, shardKeys(engine, shard), localId)
      // The API does not show the hidden queue of a cron, which shares the cron's id.
      const isHidden = queue === null || queue.team !== team || queue.name === ''
      return isHidden ? null : readOne(engine, queue)
    },
    getByName: async (team, name) => {
      const queue = await queueNamed(engine, team, name)
      return queue === null ? null : readOne(engine, queue)
    },
    apply: async (team, name, settings) => {
      const end = await writer.apply(team, name, settings)
      if (end.status === 'superseded') throw new Error(WITHOUT_EPOCH)
      return { queueId: end.queueId }
    },
    remove: async (team, name) => {
      const end = await writer.remove(team, name)
      if (end === 'superseded') throw new Error(WITHOUT_EPOCH)
      return end
    },
  }
}

async function list(
  engine: Engine,
  { team, limit, cursor }: { team: string; limit: number; cursor: string | null },
): Promise<{ queues: Queue[]; nextCursor: string | null } | 'bad_cursor'> {
  const after = cursor === null ? null : parseCursor(['queues', team], cursor)
  if (after === null && cursor !== null) return 'bad_cursor'
  const begin = after === null ? '-' : (`(${after}` as const)
  const named = await teamNames(engine, { kind: 'queues', team, begin, limit: limit + 1 })
  const page = named.slice(0, limit)
  const found = await readQueues(
    engine,
    page.map(({ keys, name, id }) => ({ keys, localId: id, team, name })),
  )
  const damaged = page.filter((_, i) => found[i] === 'damaged').map(({ name }) => name)
  if (damaged.length > 0) {
    const queues = damaged.slice(0, DAMAGED_NAMED_MAX)
    engine.logger.warn('Queues cannot be read and are not listed', { team, count: damaged.length, queues })
  }
  const queues = found.flatMap((queue) => (queue === 'damaged' ? [] : (queue ?? [])))
  const last = page.at(-1)
  const nextCursor = named.length > limit && last ? formatCursor(['queues', team], last.name) : null
  return { queues, nextCursor }
}

async function readOne(engine: Engine, known: KnownQueue): Promise<Queue | null> {
  const [queue = null] = await readQueues(engine, [known])
  if (queue === 'damaged') throw new Error(`the settings of queue ${known.team}/${known.name} cannot be read`)
  return queue
}
