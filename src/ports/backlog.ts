/** What the executors have to do, over all shards. */
export interface Backlog {
  /** Jobs ready to start, in active queues, callbacks included. */
  readonly ready: number
  /** Calls being made. */
  readonly inFlight: number
  /** Calls that the queues' own limits would let run at once: Σ min(ready + in flight, limit) over active queues. */
  readonly usable: number
  /** Waiting work due within the horizon: delayed jobs, retries, callbacks. At most `DUE_SOON_MAX` are counted. */
  readonly dueSoon: number
  /** When the next waiting work is due, ms from now; null = nothing waits. */
  readonly nextDueInMs: number | null
  /** Age of the oldest ready job that could start, ms; null = none. */
  readonly oldestReadyMs: number | null
  /** Calls in flight by executor name (the pod's name on Kubernetes). */
  readonly held: ReadonlyMap<string, number>
}

/** Reads a bounded piece of each shard; idle queues cost nothing. Throws StoreUnavailableError. */
export interface BacklogReader {
  read(horizonMs: number): Promise<Backlog>
}
