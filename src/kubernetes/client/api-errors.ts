import { ResourceApiError, reasonOf, type ResourceApiFault } from '../../domain/errors.ts'
import { excerpt } from '../../domain/excerpt.ts'
import { ERROR_TEXT_CHARACTERS_MAX, RETRY_AFTER_MS_MAX } from './bounds.ts'

/** An answer whatever its status, read to its end. */
export interface ApiAnswer {
  readonly code: number
  readonly text: string
  /** The header Retry-After as it stands. */
  readonly retryAfter: string | undefined
}

/** What the API server says of a failure, in an answer's body or in an ERROR event of a watch. */
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

/** @param answer one that is no success; its text is a `Status`, or whatever a proxy on the way has written */
export function errorOfAnswer({ code, text, retryAfter }: ApiAnswer): ResourceApiError {
  const status = statusOf(text)
  const said = status?.message ?? text.trim()
  const reason = said === '' ? `HTTP ${code}` : said
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

/** No answer came: the connection failed, the deadline passed, or the request was given up. */
export function errorOfSilence(what: string, cause?: unknown): ResourceApiError {
  const reason = cause === undefined ? what : `${what}: ${reasonOf(cause)}`
  return new ResourceApiError('unavailable', excerpt(reason, ERROR_TEXT_CHARACTERS_MAX), { cause })
}

export function errorOfSize(bytesMax: number): ResourceApiError {
  return new ResourceApiError('too_large', `an answer has more than ${bytesMax} bytes`)
}

export function isFault(error: unknown, fault: ResourceApiFault): boolean {
  return error instanceof ResourceApiError && error.fault === fault
}

function faultOf(code: number, status: ApiStatus | null): ResourceApiFault {
  // A patch that names the uid of another life is answered as a change of a field that cannot change.
  const isOtherLife = status?.details?.causes?.some(({ field }) => field === 'metadata.uid') ?? false
  if (code === 422 && isOtherLife) return 'conflict'
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

/** API servers say seconds; a date, which a proxy may say, counts as nothing said. */
function retryAfterMs(header: string | undefined): number | null {
  if (header === undefined || !/^\d{1,9}$/.test(header.trim())) return null
  return Math.min(Number(header) * 1000, RETRY_AFTER_MS_MAX)
}
