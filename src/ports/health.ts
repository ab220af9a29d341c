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
