/** Resolves after `ms`, or as soon as the signal aborts: check the signal afterwards. Never throws. */
export function pause(
  clock: { after(delayMs: number, run: () => void): () => void },
  ms: number,
  signal?: AbortSignal,
): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve()
  return new Promise((resolve) => {
    const cancel = clock.after(ms, end)
    signal?.addEventListener('abort', end, { once: true })
    function end(): void {
      cancel()
      signal?.removeEventListener('abort', end)
      resolve()
    }
  })
}
