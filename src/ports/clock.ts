/** Time as the program sees it; tests pass a fake one. */
export interface Clock {
  /** Milliseconds that never go back; for durations and leases. */
  monotonicMs(): number
  /** Unix milliseconds of this machine; for logs only. Due times and leases use Redis time. */
  wallMs(): number
  /** Calls `run` once after `delayMs`; the answer cancels it. */
  after(delayMs: number, run: () => void): () => void
  /** Calls `run` once all that is ready now has run, without time passing in between. */
  nextTurn(run: () => void): void
}
