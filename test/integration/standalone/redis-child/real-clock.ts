import type { Clock } from '../../../../src/ports/runtime.ts'

export const realClock: Clock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs)
    return () => clearTimeout(timer)
  },
  nextTurn: (run) => void setImmediate(run),
}
