import { ApiError, UnreachableError } from './errors.ts'

const BACKOFF_FIRST_MS = 250
const BACKOFF_MAX_MS = 10_000
/** A server that asks for a longer pause is not waited for. */
export const RETRY_AFTER_MAX_MS = 60_000

export interface Retries {
  readonly retriesMax: number
  /** Whether a second try can do no harm if the first one had its effect. */
  readonly isRepeatable: boolean
  readonly sleep: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>
  readonly random: () => number
  readonly signal: AbortSignal | undefined
}

/** Tries until it succeeds, or until another try makes no sense; throws what the last one threw. */
export async function retrying<T>(attempt: () => Promise<T>, retries: Retries): Promise<T> {
  for (let failed = 0; ; failed += 1) {
    try {
      return await attempt()
    } catch (fault) {
      const pauseMs = failed < retries.retriesMax ? pauseBefore(fault, failed, retries) : null
      if (pauseMs === null) throw fault
      await retries.sleep(pauseMs, retries.signal)
    }
  }
}

/** null when the fault is final. */
function pauseBefore(fault: unknown, failed: number, { isRepeatable, random }: Retries): number | null {
  const backoffMs = Math.min(BACKOFF_FIRST_MS * 2 ** failed, BACKOFF_MAX_MS) * (0.5 + random() / 2)
  if (fault instanceof UnreachableError) return isRepeatable ? backoffMs : null
  if (!(fault instanceof ApiError)) return null
  // A 429 was refused before it did anything.
  const isPassing = fault.status === 429 || (fault.status === 503 && isRepeatable)
  if (!isPassing) return null
  const pauseMs = fault.retryAfterMs ?? backoffMs
  return pauseMs > RETRY_AFTER_MAX_MS ? null : pauseMs
}

/** @throws the reason of `signal` */
export function sleepFor(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, milliseconds)
    if (signal?.aborted === true) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}
