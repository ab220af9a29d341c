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

export interface TestTime {
  /** The time that jobs, crons and windows go by, Unix ms. */
  readonly nowMs: number
  /** How far that is ahead of the clock of Redis. */
  readonly aheadMs: number
}

/** Moves the time of an installation for tests. It only goes forward: nothing that has happened lies ahead. */
export interface TestClock {
  read(): Promise<TestTime>
  /**
   * Moves the time to `toMs`, and answers the time afterwards. A time that has passed moves nothing. Throws
   * StoreUnavailableError, after which the time may have moved.
   */
  advanceTo(toMs: number): Promise<TestTime>
  /** The same by a span, from the time at which it is done. */
  advanceBy(ms: number): Promise<TestTime>
}
