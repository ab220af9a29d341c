import type { ObjectKey } from '../../ports/kubernetes.ts'

/** Queues, or crons, in force that have no resource any more. */
export interface Vanished {
  /** The last resource of this key went without being let go by us. */
  note(key: ObjectKey): void
  /** Whether what is in force is to be removed; asked once. */
  takeDoomed(key: ObjectKey): boolean
}
