export type Severity = 'warning' | 'failed'

/** Result of one check of `punctual doctor`. */
export interface CheckResult {
  /** The things checked, in a few words: `4 shards, 12 queues`. */
  readonly summary: string
  readonly findings: readonly HealthFinding[]
}

export interface HealthFinding {
  readonly severity: Severity
  /** The Redis key, queue, team or executor. */
  readonly subject: string
  /** A sentence without the subject. */
  readonly message: string
  /** Advice on how to fix it. */
  readonly advice: string
}

/** Reasons why a Redis loses jobs, or will refuse them before long. */
export const STORE_RISKS = [
  /** It may evict keys. */
  'eviction',
  /** It writes no append-only file. */
  'append_only_off',
  /** It fails to write its append-only file. */
  'append_only_failing',
  /** It fails to write its snapshot, and most often refuses every write meanwhile. */
  'snapshot_failing',
] as const
export type StoreRisk = (typeof STORE_RISKS)[number]

export interface FoundRisk {
  readonly risk: StoreRisk
  /** A sentence that says what to do, for people. */
  readonly message: string
}

/** A replica as its primary sees it. */
export interface StoreReplica {
  readonly name: string
  /** Whether it is filled and follows. */
  readonly isOnline: boolean
  /** Since it last answered its primary; null = the primary does not say. */
  readonly lagSeconds: number | null
}

/** A Redis server at one moment; null = it does not say. */
export interface StoreServer {
  /** Address of the server, such as `10.0.0.7:6379`. */
  readonly name: string
  readonly version: string | null
  readonly replicas: readonly StoreReplica[]
  /** Memory that counts against `maxBytes`. */
  readonly usedBytes: number
  /** 0 = no limit. */
  readonly maxBytes: number
  /** Keys evicted since the server was started. */
  readonly evictedKeys: number
  readonly isAppendOnly: boolean | null
  readonly isAppendOnlyWritten: boolean | null
  /** Time at which the last snapshot was complete, Unix seconds. */
  readonly savedAtSeconds: number | null
  readonly risks: readonly FoundRisk[]
}

/** Whether Redis keeps the jobs that it is given, as of the last look. */
export interface StoreSafety {
  /** Sentences on what puts jobs at risk; empty = nothing that is known. */
  risks(): readonly string[]
  /** Calls the listener when `risks` has changed. @returns unsubscribes */
  onChange(listener: () => void): () => void
}
