/** What became of the jobs that a bulk made. Each stands in one of these counts. */
export interface BulkOutcome {
  readonly succeeded: number
  /** Not ended yet, or not counted yet. */
  readonly waiting: number
  readonly failedAgain: number
  /** Cancelled or deleted before their end was counted. */
  readonly removed: number
}

export const NO_BULK_OUTCOME: BulkOutcome = Object.freeze({
  succeeded: 0,
  waiting: 0,
  failedAgain: 0,
  removed: 0,
})
