import type { IncomingMessage } from 'node:http'

/** The prefix makes browsers keep it only with `Secure`, for this very host: no neighbour in the domain can set one. */
const SECURE_NAME = '__Host-punctual'
/**
 * Name over plain HTTP on loopback, where some browsers keep no `Secure` cookie, not even of this machine, and so none
 * with the prefix. Cookies know no ports: with the port in its name, a login at one server of this machine does not end
 * that at another.
 */
const LOOPBACK_NAME = 'punctual'
const HTTP_PORT = '80'
const ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Lax'
const LOOPBACK_HOST = /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::(?<port>\d+))?$/i

/** The session id that a browser sends; null = none. */
export function sessionIdOf(request: IncomingMessage): string | null {
  return cookieOf(request, nameFor(request))
}

/** @returns the value of a `Set-Cookie`. @param id null removes the cookie */
export function sessionCookie(request: IncomingMessage, id: string | null, maxAgeMs: number): string {
  return cookieText(request, { name: nameFor(request), value: id, maxAgeMs })
}

interface CookieParts {
  readonly name: string
  /** null = it is to be removed. */
  readonly value: string | null
  readonly maxAgeMs: number
}

export function cookieText(request: IncomingMessage, { name, value, maxAgeMs }: CookieParts): string {
  const secure = isLoopback(request) ? '' : '; Secure'
  const seconds = value === null ? 0 : Math.floor(maxAgeMs / 1_000)
  return `${name}=${value ?? ''}; ${ATTRIBUTES}${secure}; Max-Age=${seconds}`
}

export function cookieOf({ headers }: IncomingMessage, name: string): string | null {
  for (const part of (headers.cookie ?? '').split(';')) {
    const equals = part.indexOf('=')
    if (equals !== -1 && part.slice(0, equals).trim() === name) return part.slice(equals + 1).trim()
  }
  return null
}

export function nameFor({ headers }: IncomingMessage): string {
  const loopback = LOOPBACK_HOST.exec(headers.host ?? '')
  return loopback === null ? SECURE_NAME : `${LOOPBACK_NAME}-${loopback.groups?.['port'] ?? HTTP_PORT}`
}

/** Whether the browser reaches us at its own machine, by the name that it uses. */
export function isLoopback({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return LOOPBACK_HOST.test(headers.host ?? '')
}
