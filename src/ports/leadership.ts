/**
 * Whether this process leads. True only while the lease cannot have passed to another, by this machine's monotonic
 * clock: ask again before every effect.
 */
export interface Leadership {
  isLeader(): boolean
  /** `lead` runs for each time of leading; its signal is aborted when that ends, and only then may it start anew. */
  onLead(lead: (signal: AbortSignal) => Promise<void>): void
}
