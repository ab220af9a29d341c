import type { QueueCounts } from './queue-store.ts'

export interface QueuePlace {
  readonly team: string
  readonly name: string
}

export interface CensusEntry extends QueuePlace {
  readonly queueId: number
  readonly counts: QueueCounts
  /** How long the job at the head of the ready list has been due, ms; null = none is ready. */
  readonly oldestReadyMs: number | null
}

/** Looks at many queues at once, cheaply. Throws StoreUnavailableError. */
export interface QueueCensus {
  /** In the order asked, at most 10,000 at once; null where the queue does not exist. */
  count(places: readonly QueuePlace[]): Promise<ReadonlyArray<CensusEntry | null>>
  /**
   * Queues that a push has made and no resource has taken over, at most `limit`, in no order; when there are more, any
   * of them, others each time. Costs the same however many queues there are.
   */
  pushed(limit: number): Promise<{ readonly queues: readonly QueuePlace[]; readonly isMore: boolean }>
  /**
   * Every queue there is, a page at a time, seldom one twice; null ends. For a start, to find queues whose resource
   * went meanwhile: those that are not pushed. A queue of unknown origin counts as pushed.
   */
  page(cursor: string | null): Promise<{
    readonly queues: readonly (QueuePlace & { readonly isPushed: boolean })[]
    readonly cursor: string | null
  }>
}
