import type { Clock } from '../../ports/runtime.ts'

interface Pausable {
  pause(why: 'ticks'): void
  resume(why: 'ticks'): void
}

/** How long claims may wait for ticks. Other queues lose no more than this, even if Redis takes no tick. */
const PAUSE_MS_MAX = 1_000
/** Least time from one pause to the next, so that ticks without an end cannot keep claims waiting again and again. */
const PAUSE_EVERY_MS = 10_000

/**
 * Keeps an executor from claiming, in all shards, while many ticks that are due are written: claims and the calls that
 * follow would delay ticks that are just as old. Owns the pause, which begins with the first of several bursts and ends
 * with the last, or after a second.
 *
 *     claiming → paused (bursts are being written) → claiming; paused again 10 s after the last beginning, or within its second
 *
 * There is nothing to stop: who begins a burst ends it, and the second ends by itself.
 */
export class ClaimPause {
  readonly #scheduler: Pausable
  readonly #clock: Clock
  readonly #bursts = new Set<symbol>()
  #sinceMs = -Infinity
  #cancelLimit: () => void = () => undefined

  constructor(scheduler: Pausable, clock: Clock) {
    this.#scheduler = scheduler
    this.#clock = clock
  }

  /** Answers what ends the burst. */
  begin(): () => void {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#sinceMs >= PAUSE_EVERY_MS) this.#sinceMs = nowMs
    const leftMs = this.#sinceMs + PAUSE_MS_MAX - nowMs
    if (leftMs <= 0) return () => undefined
    if (this.#bursts.size === 0) {
      this.#scheduler.pause('ticks')
      this.#cancelLimit = this.#clock.after(leftMs, () => this.#resume())
    }
    const burst = Symbol('burst')
    this.#bursts.add(burst)
    return () => {
      if (this.#bursts.delete(burst) && this.#bursts.size === 0) this.#resume()
    }
  }

  #resume(): void {
    this.#cancelLimit()
    this.#bursts.clear()
    this.#scheduler.resume('ticks')
  }
}
