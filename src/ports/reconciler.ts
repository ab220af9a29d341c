import type { ObjectKey } from './kube-object.ts'

/** What came of one turn. */
export interface ReconcileEnd {
  /** Look again after this long, besides any change; null = only a change. */
  readonly requeueAfterMs: number | null
}

/**
 * Brings what one key stands for to its desired state. Reads the newest copy itself; called again for as long as it
 * throws, with growing pauses; never twice at once for one key.
 */
export interface Reconciler {
  /** @param signal aborted when leadership ends: begin no further effect */
  reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileEnd>
}
