import type { Engine } from '../engine/engine.ts'
import { QUEUE } from '../layout/fields.ts'
import { splitNameField, type ShardKeys } from '../layout/keys.ts'

/** A queue that exists, and where it lives. */
export interface KnownQueue {
  readonly keys: ShardKeys
  readonly localId: string
  readonly team: string
  readonly name: string
}

/** The queue with this local id, or null when it was deleted. */
export async function knownQueue(
  engine: Engine,
  keys: ShardKeys,
  localId: string,
): Promise<KnownQueue | null> {
  const field = await engine.runner.read((redis) => redis.hget(keys.queue(localId).meta, QUEUE.name))
  if (field === null || field === '') return null
  const { team, queue } = splitNameField(field)
  return { keys, localId, team, name: queue }
}
