import type { ErrorBody, ValidationError } from '../contract/generated/wire.ts'
import { clientFailure, MISUSED } from './client-failure.ts'

const TIMEOUT_MS = 30_000

export interface ApiConnection {
  /** The text of a 2xx answer; anything else is thrown as a failure with one line. */
  get(path: string): Promise<string>
  post(path: string, body: string, headers?: Readonly<Record<string, string>>): Promise<string>
  patch(path: string, body: string): Promise<string>
  /** '' when there is nothing to say. */
  delete(path: string): Promise<string>
}

/** @param server base address, without a path, such as `http://127.0.0.1:8080` */
export function connectApi(server: string, token: string | undefined): ApiConnection {
  if (URL.parse(server)?.protocol.startsWith('http') !== true) {
    throw clientFailure(`${server} is not an http address (--server, PUNCTUAL_SERVER)`, MISUSED)
  }
  if (token === undefined || token === '') {
    throw clientFailure(
      'no token given (--token, PUNCTUAL_TOKEN; that of make run is in .punctual/token)',
      MISUSED,
    )
  }
  const call = async (path: string, init: RequestInit): Promise<string> => {
    const answer = await exchange(server, path, token, init)
    if (answer.status >= 200 && answer.status < 300) return answer.text
    throw clientFailure(explain(server, path, answer))
  }
  return {
    get: (path) => call(path, { method: 'GET' }),
    post: (path, body, headers) =>
      call(path, { method: 'POST', body, headers: { ...headers, 'content-type': 'application/json' } }),
    patch: (path, body) =>
      call(path, { method: 'PATCH', body, headers: { 'content-type': 'application/json' } }),
    delete: (path) => call(path, { method: 'DELETE' }),
  }
}

interface Answer {
  readonly status: number
  readonly text: string
}

async function exchange(server: string, path: string, token: string, init: RequestInit): Promise<Answer> {
  const headers = new Headers(init.headers)
  try {
    headers.set('authorization', `Bearer ${token}`)
    const response = await fetch(new URL(path, server), {
      ...init,
      headers,
      // A token must not follow a redirect to who knows where.
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    return { status: response.status, text: await response.text() }
  } catch (fault) {
    throw clientFailure(`cannot reach ${server}: ${reasonOf(fault)}`)
  }
}

/** fetch says "fetch failed" and keeps the reason in `cause`. */
function reasonOf(fault: unknown): string {
  if (!(fault instanceof Error)) return String(fault)
  if (fault.name === 'TimeoutError') return `no answer within ${TIMEOUT_MS / 1000} seconds`
  const { cause } = fault
  if (!(cause instanceof Error)) return fault.message
  return 'code' in cause && cause.code === 'ECONNREFUSED' ? 'connection refused' : cause.message
}

function explain(server: string, path: string, { status, text }: Answer): string {
  const body = parse(text)
  if (isValidationError(body)) return Object.values(body.errors).flat().join(' ')
  if (isErrorBody(body)) {
    if (status === 401) return `${body.error} (--token, PUNCTUAL_TOKEN)`
    const what = path.startsWith('/api/crons') ? 'cron' : 'job'
    return status === 404 ? `${body.error}: the team of this token has no such ${what}` : body.error
  }
  return `${server} answered ${status}, which is no answer of Punctual (--server, PUNCTUAL_SERVER)`
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not ours: a proxy's page, or another program on this port.
    return null
  }
}

function isValidationError(body: unknown): body is ValidationError {
  return typeof body === 'object' && body !== null && 'errors' in body && 'message' in body
}

function isErrorBody(body: unknown): body is ErrorBody {
  return typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'string'
}
