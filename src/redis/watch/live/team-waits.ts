import type { OldestStartable } from '../../../ports/live/live.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { isCallbackQueue, queueIdOf, splitNameField, type ShardKeys } from '../../base/layout/keys.ts'
import type { HeldQueues } from '../../jobs/execute/claim/held-queues.ts'
import { readParts, readySplitOf } from '../../jobs/queues/queue-parts.ts'

/** What waits in those queues of a team that were read. */
export interface Wait {
  readonly suspects: number
  readonly oldestStartable: OldestStartable | null
}
export const NO_WAIT: Wait = { suspects: 0, oldestStartable: null }

/** Sums up by team what waits in these queues. */
export async function waitsOf(
  engine: Engine,
  { keys, held }: { readonly keys: ShardKeys; readonly held: HeldQueues },
  localIds: readonly string[],
): Promise<ReadonlyMap<string, Wait>> {
  const waits = new Map<string, Wait>()
  const heldIds = await held.among(localIds)
  for (const parts of await readParts(engine, keys, localIds)) {
    const { localId, nameField, suspects } = parts
    if (nameField === '') continue
    const { team, queue } = splitNameField(nameField)
    const before = waits.get(team) ?? NO_WAIT
    // A callback is nothing that its team waits for.
    const ageMs = isCallbackQueue(localId)
      ? null
      : readySplitOf(parts, heldIds.has(localId)).oldestStartableMs
    const isOldest = ageMs !== null && ageMs >= (before.oldestStartable?.ageMs ?? 0)
    const id = queueIdOf(localId, keys.shard, engine.shards.length)
    waits.set(team, {
      suspects: before.suspects + suspects,
      oldestStartable: isOldest
        ? { ageMs, queue: queue === '' ? null : { id, name: queue } }
        : before.oldestStartable,
    })
  }
  return waits
}
