import type { Clock } from '../ports/clock.ts'

/** Resolves after `delayMs`, or at once when `signal` is aborted. */
export async function pause(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return
  await new Promise<void>((resolve) => {
    const end = (): void => {
      cancel()
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.after(delayMs, end)
    signal?.addEventListener('abort', end)
  })
}
