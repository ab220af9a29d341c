import type { ObjectKey } from '../ports/kube-object.ts'

/** Index of the view of queues: `queueKeyOf`. */
export const BY_QUEUE = 'queue'

/** Queues in force that have no resource any more. */
export interface VanishedQueues {
  /** The last resource of this queue went without being let go by us. */
  note(key: ObjectKey): void
  /** Whether the queue is to be removed; asked once. */
  takeDoomed(key: ObjectKey): boolean
}
