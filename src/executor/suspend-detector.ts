import type { Clock } from '../ports/runtime.ts'

const CHECK_EVERY_MS = 1_000
/** A smaller difference is a corrected clock. */
const SUSPENDED_MS = 5_000

/**
 * Detects that this machine was suspended: the wall clock has advanced, while the monotonic clock, which leases go by,
 * has not. Owns the last difference between the two and a timer.
 */
export class SuspendDetector {
  readonly #clock: Clock
  readonly #onSuspended: () => void
  #aheadMs = 0
  #cancel: () => void = () => undefined

  constructor(clock: Clock, onSuspended: () => void) {
    this.#clock = clock
    this.#onSuspended = onSuspended
  }

  start(): void {
    this.#aheadMs = this.#clock.wallMs() - this.#clock.monotonicMs()
    this.#schedule()
  }

  stop(): void {
    this.#cancel()
  }

  check(): void {
    const beforeMs = this.#aheadMs
    this.#aheadMs = this.#clock.wallMs() - this.#clock.monotonicMs()
    if (this.#aheadMs - beforeMs >= SUSPENDED_MS) this.#onSuspended()
  }

  #schedule(): void {
    this.#cancel = this.#clock.after(CHECK_EVERY_MS, () => {
      this.check()
      this.#schedule()
    })
  }
}
