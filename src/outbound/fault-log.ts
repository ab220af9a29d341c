import type { Clock, Logger } from '../ports/runtime.ts'
import { FAULT_LOG_MS } from './bounds.ts'

/**
 * Logs a fault that may hit thousands of calls a second: the first one at once, then one line a minute at most.
 * @returns counts one call; its fields are logged if it is the first of a line
 */
export function createFaultLog(
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
  message: string,
): (fields: Record<string, unknown>) => void {
  let calls = 0
  let loggedAtMs = Number.NEGATIVE_INFINITY
  return (fields) => {
    calls += 1
    const nowMs = clock.monotonicMs()
    if (nowMs - loggedAtMs < FAULT_LOG_MS) return
    logger.warn(message, { calls, ...fields })
    calls = 0
    loggedAtMs = nowMs
  }
}
