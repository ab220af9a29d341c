import type { LoopIterations } from '../../../ports/loops/loop-health.ts'
import type { Clock } from '../../../ports/runtime.ts'
import { asStoreFault } from '../../base/client/faults.ts'

/** Less than OWN_SECRETS_READ_MS, and leaves the folder its part of the 2 s in which a change of a file applies. */
const REFRESH_MS = 800

interface CompiledPollOptions {
  readonly clock: Clock
  readonly iterations: LoopIterations
  readonly refresh: () => Promise<void>
}

/**
 * Refreshes compiled settings at an interval; while that fails, the last ones stay. Owns the timer of the next poll.
 *
 *     new → polling (a timer is set or a read is under way) → stopped
 *
 * `stop` waits for nothing: a read under way still ends, and no other follows.
 */
export class CompiledPoll {
  readonly #options: CompiledPollOptions
  #cancelTimer: () => void = () => undefined
  #isStopped = false

  constructor(options: CompiledPollOptions) {
    this.#options = options
  }

  /** The first read must succeed. */
  async start(): Promise<void> {
    await this.#options.refresh()
    this.#schedule()
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelTimer()
  }

  #schedule(delayMs = REFRESH_MS): void {
    if (this.#isStopped) return
    this.#cancelTimer = this.#options.clock.after(delayMs, () => void this.#poll())
  }

  async #poll(): Promise<void> {
    const { refresh, iterations } = this.#options
    try {
      await refresh()
      iterations.succeeded()
      this.#schedule()
    } catch (error) {
      this.#schedule(iterations.failed(asStoreFault(error)) ?? REFRESH_MS)
    }
  }
}
