import type { QueueSettings } from '../../domain/jobs/queue-settings.ts'
import type { Queue } from '../../ports/queues.ts'
import type { KnownQueue } from '../chains/known-queue.ts'
import type { Engine } from '../client/engine.ts'
import { decodeSettings } from '../layout/job-record.ts'
import { step } from '../client/step.ts'
import { queueIdOf } from '../layout/keys.ts'

export const READ_QUEUES = step('read_queues', import.meta.url, {
  keys: ['settings'],
  rows: { queues: { queueKeys: ['meta', 'ready', 'records', 'inFlight', 'deadLetters'] } },
})

/** Queues that one step reads. */
const READ_BATCH_MAX = 250
/** Values that the step answers for each queue. */
const ANSWERED = 9

/** null: the queue was deleted, or its name is reserved and it is not made yet. */
export type ReadQueue = Queue | 'damaged' | null

/** Queues in the order asked: one step per shard for 250 of its queues. */
export async function readQueues(engine: Engine, queues: readonly KnownQueue[]): Promise<ReadQueue[]> {
  const read: ReadQueue[] = queues.map(() => null)
  const byShard = Map.groupBy(queues.keys(), (at) => queues[at]?.keys.shard)
  await Promise.all(
    [...byShard.values()].map(async (ofShard) => {
      for (let i = 0; i < ofShard.length; i += READ_BATCH_MAX) {
        const batch = ofShard.slice(i, i + READ_BATCH_MAX)
        const found = await readBatch(
          engine,
          batch.map((at) => queues[at] as KnownQueue),
        )
        batch.forEach((at, nth) => (read[at] = found[nth] ?? null))
      }
    }),
  )
  return read
}

/** @param queues of one shard */
async function readBatch(engine: Engine, queues: readonly KnownQueue[]): Promise<ReadQueue[]> {
  const [first] = queues
  if (first === undefined) return []
  const [rows, flat] = (await engine.runner.run(READ_QUEUES.with({ keys: first.keys, queues }))) as [
    rows: Array<string | number>,
    settings: string[],
  ]
  const settings = new Map<string, string>()
  for (let i = 0; i < flat.length; i += 2) settings.set(flat[i] ?? '', flat[i + 1] ?? '')
  return queues.map((queue, i) =>
    toQueue(engine, queue, { row: rows.slice(i * ANSWERED, (i + 1) * ANSWERED), settings }),
  )
}

function toQueue(
  engine: Engine,
  { keys, localId, team, name }: KnownQueue,
  { row, settings }: { row: ReadonlyArray<string | number>; settings: ReadonlyMap<string, string> },
): ReadQueue {
  const [hash, active, max, strict, draining] = row.slice(0, 5).map(String)
  const [pending = 0, records = 0, processing = 0, dead = 0] = row.slice(5).map(Number)
  if (hash === undefined || hash === '') return null
  const decoded = settingsIn(settings.get(hash))
  if (decoded === null) return 'damaged'
  return {
    queueId: queueIdOf(localId, keys.shard, engine.shards.length),
    team,
    name,
    settings: {
      ...decoded,
      isActive: active === '1',
      isDraining: draining === '1',
      maxParallelism: max === '' ? null : Number(max),
      strictParallelism: strict === '1',
    } satisfies QueueSettings,
    counts: { pending, delayed: Math.max(0, records - pending - processing), processing, dead },
  }
}

/** null when missing or damaged. */
function settingsIn(json: string | undefined): ReturnType<typeof decodeSettings> | null {
  try {
    return json === undefined ? null : decodeSettings(json)
  } catch {
    return null
  }
}
