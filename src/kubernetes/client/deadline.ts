import { ResourceApiError } from '../../domain/errors.ts'
import type { Clock } from '../../ports/runtime.ts'
import { errorOfSilence } from './api-errors.ts'

/** One limit over everything a request does, and the other reasons to give it up. */
export interface Deadline {
  readonly signal: AbortSignal
  leftMs(): number
  /** What to throw for what was thrown. @param what the request, such as `GET /api/v1/pods` */
  explain(what: string, error: unknown): ResourceApiError
  /** From here on only the caller's signals abort. */
  end(): void
}

export function createDeadline(clock: Clock, timeoutMs: number, signals: readonly AbortSignal[]): Deadline {
  const timeout = new AbortController()
  const endsAtMs = clock.monotonicMs() + timeoutMs
  const cancel = clock.after(timeoutMs, () => timeout.abort())
  return {
    signal: AbortSignal.any([timeout.signal, ...signals]),
    leftMs: () => endsAtMs - clock.monotonicMs(),
    explain: (what, error) => {
      if (error instanceof ResourceApiError) return error
      if (timeout.signal.aborted) return errorOfSilence(`${what} had no answer within ${timeoutMs} ms`)
      if (signals.some((signal) => signal.aborted)) return errorOfSilence(`${what} was given up`)
      return errorOfSilence(`${what} failed`, error)
    },
    end: cancel,
  }
}
