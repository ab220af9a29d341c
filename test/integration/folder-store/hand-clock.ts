import type { Clock } from '../../../src/ports/runtime.ts'

/** A clock that stands still until it is moved by hand. */
export interface HandClock extends Clock {
  /** Moves on and runs what has become due, in its order. */
  advance(ms: number): void
  /** Resolves when something waits for the clock, with how long. */
  waiting(): Promise<number>
}

interface Timer {
  readonly atMs: number
  readonly run: () => void
}

export function createHandClock(): HandClock {
  let nowMs = 1_000_000
  let timers: Timer[] = []
  let asked: Array<(delayMs: number) => void> = []
  const soonest = (): number => Math.min(...timers.map((timer) => timer.atMs)) - nowMs
  return {
    monotonicMs: () => nowMs,
    wallMs: () => nowMs,
    after: (delayMs, run) => {
      const timer = { atMs: nowMs + delayMs, run }
      timers.push(timer)
      for (const tell of asked) tell(delayMs)
      asked = []
      return () => void (timers = timers.filter((one) => one !== timer))
    },
    nextTurn: (run) => void setImmediate(run),
    advance: (ms) => {
      nowMs += ms
      const due = timers.filter((timer) => timer.atMs <= nowMs).sort((left, right) => left.atMs - right.atMs)
      timers = timers.filter((timer) => timer.atMs > nowMs)
      for (const timer of due) timer.run()
    },
    waiting: () =>
      timers.length > 0 ? Promise.resolve(soonest()) : new Promise((resolve) => void asked.push(resolve)),
  }
}
