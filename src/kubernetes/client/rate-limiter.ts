import type { Clock } from '../../ports/runtime.ts'
import { ResourceApiError } from '../../domain/errors.ts'
import { REQUESTS_BURST, REQUESTS_PER_SECOND, REQUEST_TIMEOUT_MS } from './bounds.ts'
import { pause } from '../../domain/pause.ts'

/** Spreads requests over time: a burst at once, the rest at a rate. */
export interface RateLimiter {
  /** Resolves when a request may go, or when the signal aborts. Throws `too_many` when that is too far away. */
  take(signal: AbortSignal): Promise<void>
}

export function createRateLimiter(
  clock: Clock,
  { perSecond, burst } = { perSecond: REQUESTS_PER_SECOND, burst: REQUESTS_BURST },
): RateLimiter {
  const intervalMs = 1000 / perSecond
  /** When the bucket is full again if nothing more is taken. */
  let fullAtMs = Number.NEGATIVE_INFINITY
  return {
    take: async (signal) => {
      const nowMs = clock.monotonicMs()
      const takenAtMs = Math.max(fullAtMs, nowMs) + intervalMs
      const waitMs = takenAtMs - nowMs - burst * intervalMs
      if (waitMs > REQUEST_TIMEOUT_MS) {
        throw new ResourceApiError('too_many', 'more requests wait here than the limit lets through in time')
      }
      fullAtMs = takenAtMs
      if (waitMs > 0) await pause(clock, waitMs, signal)
    },
  }
}
