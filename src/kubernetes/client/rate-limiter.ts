import { ResourceApiError } from '../../domain/errors.ts'
import { pause } from '../../domain/pause.ts'
import type { Clock } from '../../ports/runtime.ts'

export interface RateLimiterOptions {
  readonly perSecond: number
  readonly burst: number
  readonly waitMsMax: number
}

/** A token bucket: a burst passes at once, further requests pass at the rate. */
export class RateLimiter {
  readonly #clock: Clock
  readonly #options: RateLimiterOptions
  /** When the bucket is full again if nothing more is taken. */
  #fullAtMs = Number.NEGATIVE_INFINITY

  constructor(clock: Clock, options: RateLimiterOptions) {
    this.#clock = clock
    this.#options = options
  }

  /** Resolves when a request may be sent, or when the signal aborts. Throws `too_many` if the wait would be too long. */
  async wait(signal: AbortSignal): Promise<void> {
    const { perSecond, burst, waitMsMax } = this.#options
    const intervalMs = 1000 / perSecond
    const nowMs = this.#clock.monotonicMs()
    const takenAtMs = Math.max(this.#fullAtMs, nowMs) + intervalMs
    const waitMs = takenAtMs - nowMs - burst * intervalMs
    if (waitMs > waitMsMax) {
      throw new ResourceApiError(
        'too_many',
        'the request was not sent, because the client-side rate limit is exceeded',
      )
    }
    this.#fullAtMs = takenAtMs
    if (waitMs > 0) await pause(this.#clock, waitMs, signal)
  }
}
