import type { Clock } from '../ports/runtime.ts'

/** The machine's own clocks and timers. */
export const systemClock: Clock = Object.freeze({
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  after: (delayMs: number, run: () => void) => {
    const timer = setTimeout(run, delayMs)
    return () => clearTimeout(timer)
  },
  nextTurn: (run: () => void) => void setImmediate(run),
})
