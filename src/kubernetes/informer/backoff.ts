import type { Clock } from '../../ports/runtime.ts'

/** The value is client-go's. */
const BACKOFF_MIN_MS = 800
/** Shorter than client-go's 30 s, because changes must be applied within 15 s after an outage. */
export const BACKOFF_MAX_MS = 10_000
/** After this long without a failure the backoff starts over, as it does in client-go. */
const RESET_AFTER_MS = 120_000

/** Paces the retries of one loop by exponential backoff with jitter. */
export class Backoff {
  readonly #clock: Clock
  readonly #random: () => number
  #failures = 0
  #lastEndsAtMs = Number.NEGATIVE_INFINITY

  /** @param random 0 ≤ x < 1 */
  constructor(clock: Clock, random: () => number) {
    this.#clock = clock
    this.#random = random
  }

  reset(): void {
    this.#failures = 0
  }

  /** Answers how long to wait after one more failure: from 0.8 to 10 s, doubling, half of it jitter. */
  nextMs(): number {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#lastEndsAtMs >= RESET_AFTER_MS) this.#failures = 0
    // The fixed half prevents a storm of reconnects, and the random half keeps clients from coming all at once.
    const ceilingMs = Math.min(BACKOFF_MAX_MS, 2 * BACKOFF_MIN_MS * 2 ** this.#failures)
    const backoffMs = (ceilingMs / 2) * (1 + this.#random())
    this.#failures += 1
    this.#lastEndsAtMs = nowMs + backoffMs
    return backoffMs
  }
}
