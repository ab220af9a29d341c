/** Where a shard's loops say that there may be something to claim. */
export interface ShardNews {
  /** Something new: a hint, a job that is due, a run, a rescued job. */
  wake(): void
  /** Something can run, new or not: it is looked for unless that is known. */
  nudge(): void
}
