import type { Engine } from '../../base/engine/engine.ts'
import { isCallbackQueue, type ShardKeys } from '../../base/layout/keys.ts'

/** At most this many executors, and calls of each, are read to find the queues with calls in flight. */
const LOOKED_EXECUTORS_MAX = 1_000
const HELD_PAGE = 500
const HELD_PAGES_MAX = 100
/** At most this many waiting suspects of a shard, those that have waited longest, are read to find their queues. */
const LOOKED_SUSPECTS_MAX = 10_000

/**
 * Finds the queues with occupied slots: of calls in flight, and of suspects that wait. It reads what the executors hold
 * and the line of suspects, so that no other queue is touched.
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

/** Finds the local ids of the queues whose suspects wait, callback queues too, and how many of those read each has. */
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
