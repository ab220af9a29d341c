import type { Clock } from '../ports/runtime.ts'

/**
 * Sees that this machine was suspended: its wall clock has gone on and the monotonic one, by which leases are kept, has
 * not. Owns: the difference of the two, as last seen, and a timer.
 *
 *     new → watching → stopped
 */
export interface SuspensionWatch {
  start(): void
  /** Looks at once; calls `onSuspended` when it was. */
  check(): void
  stop(): void
}

const LOOK_MS = 1_000
/** Less is a clock that was set right. */
const SUSPENDED_MS = 5_000

export function createSuspensionWatch(options: { clock: Clock; onSuspended: () => void }): SuspensionWatch {
  const { clock, onSuspended } = options
  let aheadMs = 0
  let cancel: () => void = () => undefined
  const check = (): void => {
    const beforeMs = aheadMs
    aheadMs = clock.wallMs() - clock.monotonicMs()
    if (aheadMs - beforeMs >= SUSPENDED_MS) onSuspended()
  }
  const look = (): void => {
    check()
    cancel = clock.after(LOOK_MS, look)
  }
  return {
    start: () => {
      aheadMs = clock.wallMs() - clock.monotonicMs()
      cancel = clock.after(LOOK_MS, look)
    },
    check,
    stop: () => cancel(),
  }
}
