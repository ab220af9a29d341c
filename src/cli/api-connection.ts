import type { ErrorBody, ValidationError } from '../contract/generated/wire.ts'
import { cliError, MISUSED } from './cli-error.ts'
import { visibleAscii } from './header-text.ts'

const TIMEOUT_MS = 30_000
const SERVER_SOURCES = '(--server, PUNCTUAL_SERVER)'
const TOKEN_SOURCES = '(--token, PUNCTUAL_TOKEN)'

export interface ApiConnection {
  /** The text of a 2xx answer; any other answer is thrown as an error of one line. */
  get(path: string): Promise<string>
  post(path: string, body: string, headers?: Readonly<Record<string, string>>): Promise<string>
  patch(path: string, body: string): Promise<string>
  delete(path: string): Promise<string>
}

/**
 * @param server base address, such as `http://127.0.0.1:8080`; a path in it, as a proxy may have, precedes every request
 *   path
 */
export function connectApi(server: string, token: string | null): ApiConnection {
  const base = baseOf(server)
  const authorization = `Bearer ${checkedToken(token)}`
  const call = async (method: string, path: string, sent: Sent = {}): Promise<string> => {
    const headers = { ...sent.headers, authorization }
    const answer = await exchange(server, `${base}${path}`, { ...sent, method, headers })
    if (answer.status >= 200 && answer.status < 300) return answer.text
    throw cliError(explain(server, path, answer))
  }
  return {
    get: (path) => call('GET', path),
    post: (path, body, headers) => call('POST', path, { body, headers: { ...headers, ...JSON_BODY } }),
    patch: (path, body) => call('PATCH', path, { body, headers: JSON_BODY }),
    delete: (path) => call('DELETE', path),
  }
}

const JSON_BODY = Object.freeze({ 'content-type': 'application/json' })

interface Sent {
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Without a trailing slash. */
function baseOf(server: string): string {
  const url = URL.parse(server)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw cliError(`${JSON.stringify(server)} is not an http address ${SERVER_SOURCES}`, MISUSED)
  }
  const { username, password, search, hash } = url
  if (`${username}${password}${search}${hash}` !== '') {
    const what = 'the address of the API must have no user, password, query or fragment'
    throw cliError(`${what} ${SERVER_SOURCES}`, MISUSED)
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

function checkedToken(token: string | null): string {
  if (token !== null && token.trim() !== '') return visibleAscii(token, 'the token', ` ${TOKEN_SOURCES}`)
  throw cliError('no token given (--token, PUNCTUAL_TOKEN; make run writes one to .punctual/token)', MISUSED)
}

interface Answer {
  readonly status: number
  readonly text: string
}

async function exchange(server: string, url: string, init: RequestInit): Promise<Answer> {
  try {
    const response = await fetch(url, {
      ...init,
      // A redirect must not carry the token to another host.
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    return { status: response.status, text: await response.text() }
  } catch (fault) {
    throw cliError(`cannot reach ${server}: ${reasonOf(fault)}`)
  }
}

/** fetch says "fetch failed" and has the reason in `cause`. */
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
    if (status === 401) return `${body.error} ${TOKEN_SOURCES}`
    return status === 404 ? `${body.error}: ${missing(server, path)}` : body.error
  }
  return `${server} answered ${status} and is not Punctual ${SERVER_SOURCES}`
}

/** What a 404 did not find: the job, cron, alert or window of the path, or the path itself. */
function missing(server: string, path: string): string {
  const [, kind, id] = /^\/api\/(?:maintenance-)?(job|cron|alert|window)s\/([^/?]+)/.exec(path) ?? []
  if (kind === undefined || id === 'preview') return `${server} has no such path ${SERVER_SOURCES}`
  return `the team of this token has no such ${kind}`
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The answer of a proxy or of another program on this port.
    return null
  }
}

function isValidationError(body: unknown): body is ValidationError {
  if (typeof body !== 'object' || body === null || !('errors' in body && 'message' in body)) return false
  return typeof body.errors === 'object' && body.errors !== null
}

function isErrorBody(body: unknown): body is ErrorBody {
  return typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'string'
}
