import type { QueueSettings } from '../domain/jobs/queue-settings.ts'

export interface QueueCounts {
  /** Ready to start. */
  readonly pending: number
  /** Waiting for their time. */
  readonly delayed: number
  readonly processing: number
  /** In the dead-letter queue. */
  readonly dead: number
}

export interface Queue {
  readonly queueId: number
  readonly team: string
  readonly name: string
  readonly settings: QueueSettings
  readonly counts: QueueCounts
}

/** The queues as the engine holds them. Throws StoreUnavailableError. */
export interface QueueStore {
  /** By name, ascending. `bad_cursor` when the cursor is not one of ours. */
  list(query: {
    team: string
    limit: number
    cursor: string | null
  }): Promise<{ queues: Queue[]; nextCursor: string | null } | 'bad_cursor'>
  get(team: string, queueId: number): Promise<Queue | null>
  getByName(team: string, name: string): Promise<Queue | null>
  /** Makes the queue or changes its settings; new jobs use them, chains that exist keep theirs. */
  apply(team: string, name: string, settings: QueueSettings): Promise<{ queueId: number }>
  /** Removes the queue and all its jobs for good, in the same time for one job or a million. */
  remove(team: string, name: string): Promise<'removed' | 'not_found'>
}

/** Edits by people: to the resource where resources are kept, so that files and engine agree. */
export interface QueueEditor {
  /** The queue after the edit; null when it does not exist. */
  edit(team: string, queueId: number, change: Partial<QueueSettings>): Promise<Queue | null>
  remove(team: string, queueId: number): Promise<'removed' | 'not_found'>
}

export interface QueueRef {
  readonly team: string
  readonly name: string
}

export interface QueueStatsEntry extends QueueRef {
  readonly queueId: number
  readonly counts: QueueCounts
  /** How long the job at the head of the ready list has been due, ms; null = none is ready. */
  readonly oldestReadyMs: number | null
}

/** Looks at many queues at once, cheaply. Throws StoreUnavailableError. */
export interface QueueStats {
  /** In the order asked, at most 10,000 at once; null where the queue does not exist. */
  count(places: readonly QueueRef[]): Promise<ReadonlyArray<QueueStatsEntry | null>>
  /**
   * Queues that a push has made and no resource has taken over, at most `limit`, in no order; when there are more, any
   * of them, others each time. Costs the same however many queues there are.
   */
  pushed(limit: number): Promise<{ readonly queues: readonly QueueRef[]; readonly isMore: boolean }>
  /**
   * Every queue there is, a page at a time, seldom one twice; null ends. For a start, to find queues whose resource
   * went meanwhile: those that are not pushed. A queue of unknown origin counts as pushed.
   */
  page(cursor: string | null): Promise<{
    readonly queues: readonly (QueueRef & { readonly isPushed: boolean })[]
    readonly cursor: string | null
  }>
}

/** What the executors have to do, over all shards. */
export interface Backlog {
  /** Jobs ready to start in active queues with a free slot, callbacks included; not what waits for a slot, or for a call of its team to end. */
  readonly ready: number
  /** Calls being made. */
  readonly inFlight: number
  /** Calls that the limits of queues and the quotas of teams would let run at once: those in flight, and ready jobs with a slot for each. */
  readonly usable: number
  /** Delayed jobs, retries and ticks due within the horizon. A minute counts whole once the horizon reaches it. */
  readonly dueSoon: number
  /** When the next waiting work is due, ms from now, up to a minute too early; null = nothing waits. */
  readonly nextDueInMs: number | null
  /** Age of the oldest ready job that could start, ms; null = none. */
  readonly oldestReadyMs: number | null
  /** Calls in flight by executor name (the pod's name on Kubernetes). */
  readonly held: ReadonlyMap<string, number>
}

/**
 * Reads a bounded piece of each shard, and takes what lies beyond to be like it; idle queues cost nothing. Throws
 * StoreUnavailableError. @param horizonMs at most 120,000 @param callQuotaOf calls that a team may have in flight, null
 * = no bound; what its quota holds back is left out. Without it no team has one
 */
export interface BacklogReader {
  read(horizonMs: number, callQuotaOf?: (team: string) => number | null): Promise<Backlog>
}
