/** How one turn of a reconciler ended. `requeued`: well, with a time to look again. */
export type ReconcileResult = 'success' | 'requeued' | 'conflict' | 'error'

export type QueuePriority = 'high' | 'low'

/**
 * What the operator counts about its own work, under the names of controller-runtime with our prefix, so that its
 * dashboards carry over. Controllers are a closed set, one a kind.
 */
export interface ReconcileMetrics {
  reconciled(controller: string, result: ReconcileResult, seconds: number): void
  /** Keys in line now. */
  queueDepth(controller: string, priority: QueuePriority, keys: number): void
  keyAdded(controller: string): void
  /** A turn that failed is tried again. */
  keyRetried(controller: string): void
  /** From the line to a worker. */
  keyWaited(controller: string, seconds: number): void
  workersActive(controller: string, workers: number): void
  leading(isLeading: boolean): void
  /** Events for people that were not kept: too many waiting, or refused by the API server. */
  eventsDropped(count: number): void
}
