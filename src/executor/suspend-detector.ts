import type { LoopIterations } from '../ports/loops/loop-health.ts'
import type { Clock } from '../ports/runtime.ts'
import { PollLoop } from './poll-loop.ts'

const CHECK_EVERY_MS = 1_000
/** A smaller difference is a corrected clock. */
const SUSPENDED_MS = 5_000

/**
 * Detects that this machine was suspended: the wall clock has advanced, while the monotonic clock, which leases go by,
 * has not. Owns the last difference between the two.
 */
export class SuspendDetector extends PollLoop {
  readonly #clock: Clock
  readonly #onSuspended: () => void
  #aheadMs: number

  constructor(clock: Clock, iterations: LoopIterations, onSuspended: () => void) {
    super({ clock, iterations, retryMs: CHECK_EVERY_MS })
    this.#clock = clock
    this.#onSuspended = onSuspended
    this.#aheadMs = clock.wallMs() - clock.monotonicMs()
  }

  check(): void {
    const beforeMs = this.#aheadMs
    this.#aheadMs = this.#clock.wallMs() - this.#clock.monotonicMs()
    if (this.#aheadMs - beforeMs >= SUSPENDED_MS) this.#onSuspended()
  }

  protected override poll(): Promise<number> {
    this.check()
    return Promise.resolve(CHECK_EVERY_MS)
  }
}
