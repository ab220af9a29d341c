import type { Clock } from '../../ports/runtime.ts'
import { RETRY_HEALTHY_MS, RETRY_PAUSE_MS_MAX, RETRY_PAUSE_MS_MIN } from '../client/bounds.ts'

/** How long to wait after each of a row of failures. */
export interface RetryPause {
  /** @returns ms, from 0.8 s doubling to 10 s, each with chance in it; small again after two minutes without a failure */
  next(): number
  /** The next pause is the first of a new row. */
  reset(): void
}

/** @param random 0 ≤ x < 1 */
export function createRetryPause(clock: Clock, random: () => number): RetryPause {
  let failures = 0
  let lastEndsAtMs = Number.NEGATIVE_INFINITY
  return {
    reset: () => {
      failures = 0
    },
    next: () => {
      const nowMs = clock.monotonicMs()
      if (nowMs - lastEndsAtMs >= RETRY_HEALTHY_MS) failures = 0
      // Half of it is sure, or a storm of reconnects could be drawn; half is chance, or all clients come at once.
      const ceilingMs = Math.min(RETRY_PAUSE_MS_MAX, 2 * RETRY_PAUSE_MS_MIN * 2 ** failures)
      const pauseMs = (ceilingMs / 2) * (1 + random())
      failures += 1
      lastEndsAtMs = nowMs + pauseMs
      return pauseMs
    },
  }
}
