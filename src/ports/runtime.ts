/** The program's source of time; tests pass a fake one. */
export interface Clock {
  /** Milliseconds that never decrease; for durations and leases. */
  monotonicMs(): number
  /** Unix milliseconds of this machine; for logs only. Due times and leases use Redis time. */
  wallMs(): number
  /** Calls `run` once after `delayMs`. The returned function cancels it. */
  after(delayMs: number, run: () => void): () => void
  /** Calls `run` after everything that is ready now, without time passing in between. */
  nextTurn(run: () => void): void
}

/** The clock and the log that every long-lived part needs. */
export interface Runtime {
  readonly clock: Clock
  readonly logger: Logger
}

/** Structured log. Messages are constant; variable parts go into `fields`. Never a secret, payload or query string. */
export interface Logger {
  debug(message: string, fields?: Record<string, unknown>): void
  info(message: string, fields?: Record<string, unknown>): void
  warn(message: string, fields?: Record<string, unknown>): void
  error(message: string, fields?: Record<string, unknown>): void
  child(fields: Record<string, unknown>): Logger
}
