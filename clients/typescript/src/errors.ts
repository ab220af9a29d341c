/** The API answered, and not with 2xx. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  /** The mistakes of a 422 by field, such as `retry_delays.0`; null for other answers. */
  readonly errors: Readonly<Record<string, readonly string[]>> | null
  /** How long to wait before a next try, when the answer says so. */
  readonly retryAfterMs: number | null
  /** Whether the answer is one that Punctual gives, and not a proxy's or another program's. */
  readonly isPunctual: boolean
  /** The body as it came. */
  readonly text: string

  constructor(answer: { readonly status: number; readonly headers: Headers; readonly text: string }) {
    const body = parsed(answer.text)
    const message = messageOf(body)
    super(message ?? `The server answered ${answer.status} and is not Punctual.`)
    this.status = answer.status
    this.errors = errorsOf(body)
    this.retryAfterMs = retryAfterOf(answer.headers)
    this.isPunctual = message !== null
    this.text = answer.text
  }
}

/** No answer, or none that could be read to its end: whether the request had an effect is not known. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError'
  readonly isTimeout: boolean

  constructor(message: string, given: { readonly isTimeout: boolean; readonly cause?: unknown }) {
    super(message, { cause: given.cause })
    this.isTimeout = given.isTimeout
  }
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

function messageOf({ message, errors, error }: Readonly<Record<string, unknown>>): string | null {
  if (typeof error === 'string') return error
  return typeof message === 'string' && typeof errors === 'object' && errors !== null ? message : null
}

function errorsOf({ errors }: Readonly<Record<string, unknown>>): ApiError['errors'] {
  return typeof errors === 'object' && errors !== null ? (errors as ApiError['errors']) : null
}

/** Whole seconds, as Punctual sends them. */
function retryAfterOf(headers: Headers): number | null {
  const text = headers.get('retry-after') ?? ''
  return /^[0-9]{1,9}$/.test(text) ? Number(text) * 1000 : null
}
