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

/** Structured log. The message is constant; what varies stands in `fields`. Never a secret, payload or query string. */
export interface Logger {
  debug(message: string, fields?: Record<string, unknown>): void
  info(message: string, fields?: Record<string, unknown>): void
  warn(message: string, fields?: Record<string, unknown>): void
  error(message: string, fields?: Record<string, unknown>): void
  child(fields: Record<string, unknown>): Logger
}
