import type { Clock } from '../../src/ports/runtime.ts'

/** A clock that stands until a test moves it. */
export interface FakeClock extends Clock {
  /** Moves on by `ms`, running what falls due in order; after each step all that can run without time has run. */
  advance(ms: number): Promise<void>
  /** Passes `ms` in which nothing runs, as in a frozen process: then `input` comes, and then every timer that is due. */
  sleep(ms: number, input?: () => void): Promise<void>
  /** The wall clock goes on alone, as on a machine that is suspended. */
  suspend(ms: number): void
  /** Timers set and not yet run or cancelled. */
  readonly timers: number
}

/** Unix ms at which the fake wall clock begins. */
export const FAKE_EPOCH_MS = 1_800_000_000_000

interface Timer {
  readonly dueMs: number
  readonly run: () => void
}

export function createFakeClock(): FakeClock {
  let nowMs = 0
  let suspendedMs = 0
  const timers = new Set<Timer>()

  function nextUntil(targetMs: number): Timer | undefined {
    let next: Timer | undefined
    for (const timer of timers) {
      if (timer.dueMs <= targetMs && (next === undefined || timer.dueMs < next.dueMs)) next = timer
    }
    return next
  }

  return {
    monotonicMs: () => nowMs,
    wallMs: () => FAKE_EPOCH_MS + nowMs + suspendedMs,
    after: (delayMs, run) => {
      const timer = { dueMs: nowMs + delayMs, run }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    nextTurn: (run) => void setImmediate(run),
    advance: async (ms) => {
      const targetMs = nowMs + ms
      await quiescence()
      for (let timer = nextUntil(targetMs); timer !== undefined; timer = nextUntil(targetMs)) {
        timers.delete(timer)
        nowMs = timer.dueMs
        timer.run()
        await quiescence()
      }
      nowMs = targetMs
    },
    sleep: async (ms, input = () => undefined) => {
      nowMs += ms
      input()
      await quiescence()
      for (let timer = nextUntil(nowMs); timer !== undefined; timer = nextUntil(nowMs)) {
        timers.delete(timer)
        timer.run()
        await quiescence()
      }
    },
    suspend: (ms) => {
      suspendedMs += ms
    },
    get timers() {
      return timers.size
    },
  }
}

/** More turns than any chain of promises and `setImmediate` under test has. */
const TURNS = 8

/** Resolves when all that needs no time to pass has run. */
export async function quiescence(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
