import type { Clock, Logger } from '../ports/runtime.ts'
import { FAULT_LOG_MS } from './bounds.ts'

/**
 * Logs what may meet thousands of calls a second: the first at once, then one line for all of a minute or more.
 * @returns counts one call, with what is known of it
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
