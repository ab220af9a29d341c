import type { Engine } from '../client/engine.ts'
import { isCallbackQueue, type ShardKeys } from '../layout/keys.ts'

/** Executors and calls in flight of each that are read to find the queues with calls in flight. */
const LOOKED_EXECUTORS_MAX = 1_000
const HELD_PAGE = 500
const HELD_PAGES_MAX = 100
/** Waiting suspects of a shard that are read to find their queues: those that have waited longest. */
const LOOKED_SUSPECTS_MAX = 10_000

/**
 * The queues with taken slots: of calls in flight, and of suspects that wait. Read from what the executors hold and from
 * the line of suspects, so that no other queue is touched.
 */
export async function occupiedQueues(engine: Engine, keys: ShardKeys): Promise<Set<number>> {
  const localIds = new Set<number>()
  for (const localId of (await suspectQueues(engine, keys)).keys())
    if (!isCallbackQueue(localId)) localIds.add(Number(localId))
  const executors = await engine.runner.read((redis) =>
    redis.zrange(keys.executors, '0', String(LOOKED_EXECUTORS_MAX - 1)),
  )
  for (const executor of executors) {
    let cursor = '0'
    for (let page = 0; page < HELD_PAGES_MAX; page += 1) {
      const [next, flat] = await engine.runner.read((redis) =>
        redis.hscan(keys.heldJobs(executor), cursor, 'COUNT', HELD_PAGE),
      )
      for (const text of flat) {
        const [, localId] = /^(\d+)\|\d+$/.exec(text) ?? []
        if (localId !== undefined && !isCallbackQueue(localId)) localIds.add(Number(localId))
      }
      cursor = next
      if (cursor === '0') break
    }
  }
  return localIds
}

/** The local ids of the queues whose suspects wait, callback queues too, and how many of those read each has. */
export async function suspectQueues(engine: Engine, keys: ShardKeys): Promise<Map<string, number>> {
  const members = await engine.runner.read((redis) =>
    redis.zrange(keys.suspects, '0', String(LOOKED_SUSPECTS_MAX - 1)),
  )
  const counts = new Map<string, number>()
  for (const member of members) {
    const [localId = ''] = member.split('|', 1)
    counts.set(localId, (counts.get(localId) ?? 0) + 1)
  }
  return counts
}
