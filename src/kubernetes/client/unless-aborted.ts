/**
 * Ends as the promise does, or rejects with the signal's reason when that aborts first. It leaves nothing on the
 * signal: Node keeps a signal made by `AbortSignal.any` for as long as someone listens to it.
 */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const giveUp = (): void => reject(signal.reason as Error)
  if (signal.aborted) giveUp()
  else signal.addEventListener('abort', giveUp, { once: true })
  try {
    return await Promise.race([aborted, promise])
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}
