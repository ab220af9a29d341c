import type { ObjectKey } from '../../ports/kubernetes.ts'
import { placeOfKey } from '../../resources/queue-owner.ts'

/** One key of each namespace after the other, those of a namespace in the order they have. */
export function inTurns(keys: Iterable<ObjectKey>): readonly ObjectKey[] {
  const lines = [...Map.groupBy(keys, (key) => placeOfKey(key).team).values()]
  const ordered: ObjectKey[] = []
  for (let turn = 0, open = lines; open.length > 0; turn += 1) {
    open = open.filter((line) => line.length > turn)
    for (const line of open) ordered.push(line[turn]!)
  }
  return ordered
}
