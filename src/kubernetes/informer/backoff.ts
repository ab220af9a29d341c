import type { Clock } from '../../ports/runtime.ts'

/** As client-go. */
const BACKOFF_MIN_MS = 800
/** Not the 30 s of client-go: after an outage, changes must be applied within 15 s. */
export const BACKOFF_MAX_MS = 10_000
/** After this long without a failure the backoff starts over, as in client-go. */
const RESET_AFTER_MS = 120_000

/** Exponential backoff with jitter, for one loop. */
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

  /** How long to wait after one more failure: from 0.8 to 10 s, doubling, half of it jitter. */
  nextMs(): number {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#lastEndsAtMs >= RESET_AFTER_MS) this.#failures = 0
    // A fixed half prevents a storm of reconnects; a random half keeps clients from coming all at once.
    const ceilingMs = Math.min(BACKOFF_MAX_MS, 2 * BACKOFF_MIN_MS * 2 ** this.#failures)
    const backoffMs = (ceilingMs / 2) * (1 + this.#random())
    this.#failures += 1
    this.#lastEndsAtMs = nowMs + backoffMs
    return backoffMs
  }
}
