export type Severity = 'warning' | 'failed'

/** What one check of `punctual doctor` found. */
export interface CheckResult {
  /** What was looked at, in a few words: `4 shards, 12 queues`. */
  readonly summary: string
  readonly findings: readonly HealthFinding[]
}

export interface HealthFinding {
  readonly severity: Severity
  /** The Redis key, queue, team or executor. */
  readonly subject: string
  /** A sentence without the subject. */
  readonly message: string
  /** What to do about it. */
  readonly advice: string
}

/** What makes a Redis lose jobs, or refuse them before long. */
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

/** A Redis server at one moment; null = it does not say. */
export interface StoreServer {
  /** Where it is, such as `10.0.0.7:6379`. */
  readonly name: string
  /** Memory that counts against `maxBytes`. */
  readonly usedBytes: number
  /** 0 = no limit. */
  readonly maxBytes: number
  /** Since it was started. */
  readonly evictedKeys: number
  readonly isAppendOnly: boolean | null
  readonly isAppendOnlyWritten: boolean | null
  /** When its last snapshot was complete, Unix seconds. */
  readonly savedAtSeconds: number | null
  readonly risks: readonly FoundRisk[]
}

/** Whether Redis keeps the jobs that it is given, as of the last look. */
export interface StoreSafety {
  /** What puts jobs at risk, in sentences; none = nothing that is known. */
  risks(): readonly string[]
  /** Calls the listener when `risks` has changed. @returns unsubscribes */
  onChange(listener: () => void): () => void
}
