import type { Clock } from '../../ports/runtime.ts'

export type StopSignal = 'SIGINT' | 'SIGTERM'

/** The process, or a test's. */
export interface SignalSource {
  on(name: StopSignal, listener: (name: StopSignal) => void): unknown
}

export interface StopRequests {
  /** Called once, at the first signal. */
  stop(signal: StopSignal): void
  /** Called once, at a later signal: somebody does not want to wait. */
  force(signal: StopSignal): void
}

/**
 * Signals this soon after the first belong to it: a supervisor that signals a whole process group, or a parent that
 * forwards what the group got too, sends two or three within milliseconds.
 */
const SAME_REQUEST_MS = 2_000

/**
 * Listens for signals until the process is gone: without a listener, a signal during the last lines would kill the
 * process instead of letting it end cleanly.
 */
export function heedStopSignals(source: SignalSource, clock: Clock, requests: StopRequests): void {
  let firstAtMs: number | null = null
  let isForced = false
  const heed = (signal: StopSignal): void => {
    const nowMs = clock.monotonicMs()
    if (firstAtMs === null) {
      firstAtMs = nowMs
      requests.stop(signal)
    } else if (!isForced && nowMs - firstAtMs >= SAME_REQUEST_MS) {
      isForced = true
      requests.force(signal)
    }
  }
  source.on('SIGINT', heed)
  source.on('SIGTERM', heed)
}
