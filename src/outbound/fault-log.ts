import { LogGate } from '../domain/log-gate.ts'
import type { Clock, Logger } from '../ports/runtime.ts'

/**
 * Logs a fault that may hit thousands of calls a second: the first one at once, then one line a minute at most.
 * @returns counts one call; its fields are logged if it is the first of a line
 */
export function createFaultLog(
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
  message: string,
): (fields: Record<string, unknown>) => void {
  const gate = new LogGate()
  return (fields) => {
    const calls = gate.pass('', clock.monotonicMs())
    if (calls > 0) logger.warn(message, { calls, ...fields })
  }
}
