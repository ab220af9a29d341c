import type { Clock } from '../../ports/runtime.ts'

export type StopSignal = 'SIGINT' | 'SIGTERM'

/** Where signals come from: the process. */
export interface SignalSource {
  on(name: StopSignal, listener: (name: StopSignal) => void): unknown
}

export interface StopWishes {
  /** Once, at the first signal. */
  stop(signal: StopSignal): void
  /** Once, when somebody does not want to wait for the end. */
  force(signal: StopSignal): void
}

/**
 * Signals that come this soon after the first are the same wish: a supervisor that signals a whole process group, or
 * a parent that passes on what the group got too, sends two or three within milliseconds.
 */
const SAME_WISH_MS = 2_000

/**
 * Turns signals into wishes. It listens until the process is gone: without a listener, a signal that comes while the
 * last lines run would turn a clean end into a death by that signal.
 */
export function heedStopSignals(source: SignalSource, clock: Clock, wishes: StopWishes): void {
  let firstAtMs: number | null = null
  let isForced = false
  const heed = (signal: StopSignal): void => {
    const nowMs = clock.monotonicMs()
    if (firstAtMs === null) {
      firstAtMs = nowMs
      wishes.stop(signal)
    } else if (!isForced && nowMs - firstAtMs >= SAME_WISH_MS) {
      isForced = true
      wishes.force(signal)
    }
  }
  source.on('SIGINT', heed)
  source.on('SIGTERM', heed)
}
