/** At most `limit` calls of a queue begin in any span of `periodSeconds`, retries and replays included. */
export interface RateLimit {
  /** 1–1,000,000. */
  readonly limit: number
  /** 1–86,400. */
  readonly periodSeconds: number
}

/**
 * When a queue stops calling a target that fails: `failurePercent` (1–100) of at least `minCalls` (1–10,000) attempts
 * that ended in the last `windowSeconds` (1–3,600) failed. It then waits for `openSeconds` (1–900) before one job tries.
 */
export interface CircuitBreaker {
  readonly failurePercent: number
  readonly minCalls: number
  readonly windowSeconds: number
  readonly openSeconds: number
}

/** How fast the target of a queue is called. Every claim and every end reads them live. */
export interface FlowSettings {
  /** null = as fast as slots allow. */
  readonly rateLimit: RateLimit | null
  /** true = an answer 429 or 503 with `Retry-After` keeps the whole queue waiting until then. */
  readonly respectRetryAfter: boolean
  /** null = a target that fails is called all the same. */
  readonly circuitBreaker: CircuitBreaker | null
}

export const NO_FLOW: FlowSettings = Object.freeze({
  rateLimit: null,
  respectRetryAfter: false,
  circuitBreaker: null,
})

/** What is used of a breaker where nothing else is said. */
export const DEFAULT_CIRCUIT_BREAKER: CircuitBreaker = Object.freeze({
  failurePercent: 50,
  minCalls: 10,
  windowSeconds: 60,
  openSeconds: 30,
})

/** Why a queue may not begin jobs for a while. */
export const THROTTLE_REASONS = ['rate_limited', 'target_asks_to_wait', 'circuit_open'] as const
export type ThrottleReason = (typeof THROTTLE_REASONS)[number]

/** A queue that may not begin jobs for a while. */
export interface Throttle {
  readonly reason: ThrottleReason
  /** Redis time, Unix ms; null = until the one job that tries the target has ended. */
  readonly untilMs: number | null
}
