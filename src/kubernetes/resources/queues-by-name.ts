import type { Informer } from '../../ports/kubernetes.ts'
import type { KubeObject } from '../../ports/resource-store.ts'
import { type NamedQueue, queueKey, queueKeyOf } from '../../resources/queue-owner.ts'

const BY_QUEUE = 'queue'

/** The indexes that `queuesByName` needs. */
export const QUEUE_NAME_INDEXES: Readonly<
  Record<string, (queue: KubeObject & NamedQueue) => readonly string[]>
> = {
  [BY_QUEUE]: (queue) => [queueKeyOf(queue)],
}

/** Finds the HttpQueues of a queue name in the copy of all; null until that is whole. */
export function queuesByName<T extends KubeObject & NamedQueue>(
  informer: Pick<Informer<T>, 'isSynced' | 'byIndex'>,
): (team: string, queue: string) => readonly T[] | null {
  return (team, queue) => (informer.isSynced() ? informer.byIndex(BY_QUEUE, queueKey(team, queue)) : null)
}
