import { ResourceApiError } from '../../domain/errors.ts'
import type { Clock } from '../../ports/runtime.ts'
import { errorOfSilence } from './api-errors.ts'

/** One time limit for everything a call does, combined with the signals of its callers. */
export class Deadline {
  /** Aborts when the time is up or a caller's signal aborts. */
  readonly signal: AbortSignal
  readonly #clock: Clock
  readonly #timeoutMs: number
  readonly #callers: readonly AbortSignal[]
  readonly #timeout = new AbortController()
  readonly #endsAtMs: number
  readonly #cancel: () => void

  constructor(
    clock: Clock,
    { timeoutMs, signals }: { readonly timeoutMs: number; readonly signals: readonly AbortSignal[] },
  ) {
    this.#clock = clock
    this.#timeoutMs = timeoutMs
    this.#callers = signals
    this.#endsAtMs = clock.monotonicMs() + timeoutMs
    this.#cancel = clock.after(timeoutMs, () => this.#timeout.abort())
    this.signal = AbortSignal.any([this.#timeout.signal, ...signals])
  }

  leftMs(): number {
    return this.#endsAtMs - this.#clock.monotonicMs()
  }

  /** The error to throw for one that was caught. @param what the request, such as `GET /api/v1/pods` */
  explain(what: string, error: unknown): ResourceApiError {
    if (error instanceof ResourceApiError) return error
    if (this.#timeout.signal.aborted) {
      return errorOfSilence(`${what} had no answer within ${this.#timeoutMs} ms`)
    }
    if (this.#callers.some((signal) => signal.aborted)) return errorOfSilence(`${what} was canceled`)
    return errorOfSilence(`${what} failed`, error)
  }

  /** Stops the timer; only the callers' signals can abort from here on. */
  end(): void {
    this.#cancel()
  }
}

/**
 * Settles as the promise does, or rejects with the signal's reason if that aborts first. Leaves no listener behind: Node
 * keeps a signal made by `AbortSignal.any` alive for as long as it has one.
 */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = (): void => reject(signal.reason as Error)
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([aborted, promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
