import { reasonOf, StoreUnreachableError } from '../../domain/errors.ts'
import { pause } from '../../domain/pause.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'

/** Longer than a Redis that is installed at the same time needs, and shorter than the chart's startup probes wait. */
export const REDIS_WAIT_MS = 60_000
const RETRY_MS = 500

/**
 * Retries `open` while Redis does not answer: in a new installation it may start after this role. A Redis that answers
 * and refuses is not retried. Throws the last error of `open` when the time is over or the signal aborts.
 */
export async function waitForRedis<T>(
  open: () => Promise<T>,
  context: { readonly clock: Clock; readonly logger: Logger; readonly signal: AbortSignal },
): Promise<T> {
  const { clock, logger, signal } = context
  const untilMs = clock.monotonicMs() + REDIS_WAIT_MS
  for (let isLogged = false; ; isLogged = true) {
    try {
      const opened = await open()
      if (isLogged) logger.info('Redis answers')
      return opened
    } catch (error) {
      const mayCome = error instanceof StoreUnreachableError && !error.isRefusal
      if (!mayCome || signal.aborted || clock.monotonicMs() >= untilMs) throw error
      const fields = { reason: reasonOf(error), waitSeconds: REDIS_WAIT_MS / 1000 }
      if (!isLogged) logger.warn('Waiting for Redis', fields)
    }
    await pause(clock, RETRY_MS, signal)
  }
}
