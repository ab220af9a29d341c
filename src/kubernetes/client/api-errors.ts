import { isFault, ResourceApiError, reasonOf, type ResourceApiFault } from '../../domain/errors.ts'
import { excerpt } from '../../domain/excerpt.ts'

const ERROR_TEXT_CHARACTERS_MAX = 1_000
/** A longer Retry-After is cut to this. */
const RETRY_AFTER_MS_MAX = 60_000

/** A whole answer, of any status. */
export interface ApiAnswer {
  readonly code: number
  readonly text: string
  /** The raw Retry-After header. */
  readonly retryAfter: string | undefined
}

/** `metav1.Status`: how the API server reports a failure, in an answer's body or in an ERROR event of a watch. */
export interface ApiStatus {
  readonly kind: 'Status'
  readonly code?: number
  readonly reason?: string
  readonly message?: string
  readonly details?: { readonly causes?: ReadonlyArray<{ readonly field?: string }> }
}

const FAULTS: Readonly<Record<number, ResourceApiFault>> = {
  400: 'invalid',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'invalid',
  406: 'invalid',
  409: 'conflict',
  410: 'gone',
  413: 'invalid',
  415: 'invalid',
  422: 'invalid',
  429: 'too_many',
}

/** @param answer any but a success; its text is a `Status`, or whatever a proxy in between has written */
export function errorOfAnswer({ code, text, retryAfter }: ApiAnswer): ResourceApiError {
  const status = statusOf(text)
  const message = status?.message ?? text.trim()
  const reason = message === '' ? `HTTP ${code}` : message
  return new ResourceApiError(faultOf(code, status), excerpt(reason, ERROR_TEXT_CHARACTERS_MAX), {
    retryAfterMs: retryAfterMs(retryAfter),
  })
}

export function errorOfStatus(status: ApiStatus): ResourceApiError {
  return new ResourceApiError(
    faultOf(status.code ?? 500, status),
    excerpt(status.message ?? 'no message', ERROR_TEXT_CHARACTERS_MAX),
  )
}

/** Stands for a request without an answer: the connection failed, the deadline passed, or the request was canceled. */
export function errorOfSilence(what: string, cause?: unknown): ResourceApiError {
  const reason = cause === undefined ? what : `${what}: ${reasonOf(cause)}`
  return new ResourceApiError('unavailable', excerpt(reason, ERROR_TEXT_CHARACTERS_MAX), { cause })
}

export function errorOfSize(bytesMax: number): ResourceApiError {
  return new ResourceApiError('too_large', `the answer has more than ${bytesMax} bytes`)
}

/** Turns `not_found` into null. */
export async function ignoreNotFound<T>(request: Promise<T>): Promise<T | null> {
  try {
    return await request
  } catch (error) {
    if (isFault(error, 'not_found')) return null
    throw error
  }
}

function faultOf(code: number, status: ApiStatus | null): ResourceApiFault {
  // A uid in a patch is a precondition; when it fails, the server reports an attempt to change an immutable field.
  const isOtherUid = status?.details?.causes?.some(({ field }) => field === 'metadata.uid') ?? false
  if (code === 422 && isOtherUid) return 'conflict'
  return FAULTS[code] ?? 'unavailable'
}

function statusOf(body: string): ApiStatus | null {
  try {
    const parsed: unknown = JSON.parse(body)
    return isStatus(parsed) ? parsed : null
  } catch {
    return null
  }
}

function isStatus(value: unknown): value is ApiStatus {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'Status'
}

/** API servers send seconds. A proxy may send a date, which is ignored. */
function retryAfterMs(header: string | undefined): number | null {
  if (header === undefined || !/^\d{1,9}$/.test(header.trim())) return null
  return Math.min(Number(header) * 1000, RETRY_AFTER_MS_MAX)
}
