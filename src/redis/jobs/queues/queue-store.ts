import { STORE_DEADLINE_MS } from '../../../domain/limits.ts'
import type { Queue, QueueStore } from '../../../ports/queues.ts'
import { knownQueue, type KnownQueue } from '../../base/names/known-queue.ts'
import { hintWake, shardKeys, type Engine } from '../../base/engine/engine.ts'
import { readQueues } from './queue-reader.ts'
import { QueueWriter, UNTHROTTLE } from './write/queue-writer.ts'
import { queueNamed } from '../../base/names/team-names.ts'

const WITHOUT_EPOCH = 'a write without an epoch was superseded'

export function createQueueStore(engine: Engine): QueueStore {
  const writer = new QueueWriter(engine, { epoch: null, isCompiled: false })
  return {
    get: async (team, queueId) => {
      const queue = await queueOf(engine, team, queueId)
      return queue === null ? null : readOne(engine, queue)
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
    unthrottle: async (team, queueId) => {
      const queue = await queueOf(engine, team, queueId)
      if (queue === null) return false
      const { keys, localId } = queue
      const answer = await engine.runner.run(UNTHROTTLE.with({ keys, localId }), STORE_DEADLINE_MS)
      if (answer === 1) hintWake(engine, keys.shard)
      return answer !== 'not_found'
    },
    remove: async (team, name) => {
      const end = await writer.remove(team, name)
      if (end === 'superseded') throw new Error(WITHOUT_EPOCH)
      return end
    },
  }
}

/** The API does not show the hidden queue of a cron, which shares the cron's id. */
async function queueOf(engine: Engine, team: string, queueId: number): Promise<KnownQueue | null> {
  const shard = queueId % engine.shards.length
  const localId = String(Math.floor(queueId / engine.shards.length))
  const queue = await knownQueue(engine, shardKeys(engine, shard), localId)
  return queue === null || queue.team !== team || queue.name === '' ? null : queue
}

async function readOne(engine: Engine, known: KnownQueue): Promise<Queue | null> {
  const [queue = null] = await readQueues(engine, [known])
  if (queue === 'damaged') throw new Error(`the settings of queue ${known.team}/${known.name} cannot be read`)
  return queue
}
