import { reasonOf, StoreUnreachableError } from '../../domain/errors.ts'
import { pause } from '../../domain/pause.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'

/** Longer than a Redis that is installed at the same time takes; below the patience of the chart's startup probes. */
export const REDIS_WAIT_MS = 60_000
const LOOK_AGAIN_MS = 500

/**
 * Opens what stands on Redis, which may come a moment after this role: begun together, nobody is first. One that
 * answers and refuses is not waited for. Throws what `open` threw last when the time is over or the signal aborts.
 */
export async function waitForRedis<T>(
  open: () => Promise<T>,
  context: { readonly clock: Clock; readonly logger: Logger; readonly signal: AbortSignal },
): Promise<T> {
  const { clock, logger, signal } = context
  const untilMs = clock.monotonicMs() + REDIS_WAIT_MS
  for (let isTold = false; ; isTold = true) {
    try {
      const opened = await open()
      if (isTold) logger.info('Redis answers')
      return opened
    } catch (error) {
      const mayCome = error instanceof StoreUnreachableError && !error.isRefusal
      if (!mayCome || signal.aborted || clock.monotonicMs() >= untilMs) throw error
      const fields = { reason: reasonOf(error), waitSeconds: REDIS_WAIT_MS / 1000 }
      if (!isTold) logger.warn('Waiting for Redis', fields)
    }
    await pause(clock, LOOK_AGAIN_MS, signal)
  }
}
