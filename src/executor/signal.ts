import type { Clock } from '../ports/runtime.ts'

/** Wakes one waiting loop. A notify that comes while nobody waits is remembered, so none is lost. */
export interface Signal {
  notify(): void
  /** Resolves at the next notify, or after `timeoutMs`. One waiter at a time. */
  wait(timeoutMs: number): Promise<void>
}

export function createSignal(clock: Clock): Signal {
  let isNotified = false
  let wake: (() => void) | null = null
  return {
    notify: () => {
      if (wake === null) isNotified = true
      else wake()
    },
    wait: (timeoutMs) => {
      if (isNotified) {
        isNotified = false
        return Promise.resolve()
      }
      return new Promise((resolve) => {
        const cancel = clock.after(timeoutMs, () => wake?.())
        wake = () => {
          cancel()
          wake = null
          resolve()
        }
      })
    },
  }
}
