import type { QueueSettings } from '../../../domain/jobs/queue-settings.ts'
import type { Queue } from '../../../ports/queues.ts'
import type { KnownQueue } from '../../base/names/known-queue.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { decodeSettings } from '../../base/layout/queue-record.ts'
import { queueIdOf } from '../../base/layout/keys.ts'
import { readParts, type QueueParts } from './queue-parts.ts'

/** null = the queue was deleted, or its name is reserved and it is not made yet. */
export type ReadQueue = Queue | 'damaged' | null

/** A queue, and the parts that it was made of. */
export interface QueueWithParts {
  readonly queue: ReadQueue
  readonly parts: QueueParts | null
}

/** Reads queues, and answers them in the order asked. */
export async function readQueues(engine: Engine, queues: readonly KnownQueue[]): Promise<ReadQueue[]> {
  return (await readQueuesWithParts(engine, queues)).map(({ queue }) => queue)
}

export async function readQueuesWithParts(
  engine: Engine,
  queues: readonly KnownQueue[],
): Promise<QueueWithParts[]> {
  const read: QueueWithParts[] = queues.map(() => ({ queue: null, parts: null }))
  const byShard = Map.groupBy(queues.keys(), (at) => queues[at]?.keys)
  await Promise.all(
    [...byShard].map(async ([keys, ofShard]) => {
      if (keys === undefined) return
      const localIds = ofShard.map((at) => (queues[at] as KnownQueue).localId)
      const found = await readParts(engine, keys, localIds, { wantsSettings: true })
      ofShard.forEach((at, nth) => {
        const parts = found[nth] as QueueParts
        read[at] = { queue: toQueue(engine, queues[at] as KnownQueue, parts), parts }
      })
    }),
  )
  return read
}

function toQueue(engine: Engine, { keys, localId, team, name }: KnownQueue, parts: QueueParts): ReadQueue {
  const { isActive, isDraining, isStrict, maxParallelism, flow, throttle, counts } = parts
  if (parts.settingsHash === '') return null
  const decoded = settingsIn(parts.settingsJson)
  if (decoded === null) return 'damaged'
  return {
    queueId: queueIdOf(localId, keys.shard, engine.shards.length),
    team,
    name,
    settings: {
      ...decoded,
      isActive,
      isDraining,
      maxParallelism,
      strictParallelism: isStrict,
      ...flow,
    } satisfies QueueSettings,
    counts,
    throttle,
  }
}

/** null = the settings are missing or damaged. */
function settingsIn(json: string | null): ReturnType<typeof decodeSettings> | null {
  try {
    return json === null ? null : decodeSettings(json)
  } catch {
    return null
  }
}
