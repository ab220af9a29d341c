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
