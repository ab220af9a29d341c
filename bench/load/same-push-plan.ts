/** What the process of `same-push-process.ts` is told, as JSON. */
export interface SamePushPlan {
  readonly port: number
  readonly token: string
  readonly seconds: number
  /** Teams are told apart by their tokens elsewhere: one process pushes for one. */
  readonly body: string
  /** Null = closed: each connection pushes again once it is answered. */
  readonly perSecond: number | null
  /** The most connections; an open load opens them as it needs them. */
  readonly connections: number
}

/** Milliseconds from the moment a push was due to be sent. */
export interface Latencies {
  readonly count: number
  readonly p50: number
  readonly p99: number
  readonly most: number
}

/** What came of it. */
export interface SamePushReport {
  readonly seconds: number
  readonly accepted: Latencies
  /** 429 and 503 that had a Retry-After. */
  readonly refused: Latencies
  /** Other answers, by status, and connections that were lost, as `lost`. */
  readonly others: Readonly<Record<string, number>>
  /** How late the load itself was: from the moment a push was due to the moment it was written. */
  readonly lateness: Latencies
  readonly connections: number
}
