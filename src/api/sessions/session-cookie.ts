import type { IncomingMessage } from 'node:http'
import type { PendingLogin } from '../../ports/access/login-provider.ts'

/** The prefix makes browsers keep it only with `Secure`, for this very host: no neighbour in the domain can set one. */
const SECURE_NAME = '__Host-punctual'
/** Over plain HTTP some browsers keep no `Secure` cookie, not even of this machine, and so none with the prefix. */
const LOOPBACK_NAME = 'punctual'
const ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Lax'
const LOOPBACK_HOST = /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i

/** Of a login that has begun: how long somebody may take at the provider. */
const BEGUN_MS = 10 * 60_000
const BEGUN_CHARACTERS_MAX = 2_048

/** What a browser keeps while it is at the provider. */
export interface BegunLogin extends PendingLogin {
  /** That it was begun for; null = none was named. */
  readonly team: string | null
}

/** The session id that a browser sends; null = none. */
export function sessionIdOf(request: IncomingMessage): string | null {
  return cookieOf(request, nameFor(request))
}

/** @returns the value of a `Set-Cookie`. @param id null removes the cookie */
export function sessionCookie(request: IncomingMessage, id: string | null, maxAgeMs: number): string {
  return cookieText(request, { name: nameFor(request), value: id, maxAgeMs })
}

/** The login that this browser has begun; null = none, or a cookie that we did not write. */
export function begunLoginOf(request: IncomingMessage): BegunLogin | null {
  const text = cookieOf(request, `${nameFor(request)}-login`) ?? ''
  if (text === '' || text.length > BEGUN_CHARACTERS_MAX) return null
  try {
    const read = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Partial<BegunLogin>
    const { state, nonce, verifier, team = null } = read
    const isWhole = [state, nonce, verifier, team ?? ''].every((one) => typeof one === 'string')
    return isWhole ? ({ state, nonce, verifier, team } as BegunLogin) : null
  } catch {
    return null
  }
}

/** @returns the value of a `Set-Cookie`. @param begun null removes the cookie */
export function begunCookie(request: IncomingMessage, begun: BegunLogin | null): string {
  const value = begun === null ? null : Buffer.from(JSON.stringify(begun)).toString('base64url')
  return cookieText(request, { name: `${nameFor(request)}-login`, value, maxAgeMs: BEGUN_MS })
}

interface CookieParts {
  readonly name: string
  /** null = it is to be removed. */
  readonly value: string | null
  readonly maxAgeMs: number
}

function cookieText(request: IncomingMessage, { name, value, maxAgeMs }: CookieParts): string {
  const secure = isLoopback(request) ? '' : '; Secure'
  const seconds = value === null ? 0 : Math.floor(maxAgeMs / 1_000)
  return `${name}=${value ?? ''}; ${ATTRIBUTES}${secure}; Max-Age=${seconds}`
}

function cookieOf({ headers }: IncomingMessage, name: string): string | null {
  for (const part of (headers.cookie ?? '').split(';')) {
    const equals = part.indexOf('=')
    if (equals !== -1 && part.slice(0, equals).trim() === name) return part.slice(equals + 1).trim()
  }
  return null
}

function nameFor(request: IncomingMessage): string {
  return isLoopback(request) ? LOOPBACK_NAME : SECURE_NAME
}

function isLoopback({ headers }: IncomingMessage): boolean {
  return LOOPBACK_HOST.test(headers.host ?? '')
}
