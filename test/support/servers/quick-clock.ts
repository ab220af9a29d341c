import type { Clock } from '../../../src/ports/runtime.ts'

export const QUICK_FACTOR = 5

/** For NODE_OPTIONS: the program gets the quick clock in place of the machine's. */
export const WITH_QUICK_CLOCK = `--import=${new URL('quick-clock-process.ts', import.meta.url).href}`

/**
 * Time passes {@link QUICK_FACTOR} times as fast by it: leases run out, rounds come and deadlines end that much sooner,
 * in the same proportions. What other processes do takes as long as ever, so that a deadline of seconds leaves less room
 * on a busy machine. The time of day stays what it is.
 */
export function quickened(clock: Clock): Clock {
  return {
    ...clock,
    monotonicMs: () => clock.monotonicMs() * QUICK_FACTOR,
    after: (delayMs, run) => clock.after(delayMs / QUICK_FACTOR, run),
  }
}
