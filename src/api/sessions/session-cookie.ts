import type { IncomingMessage } from 'node:http'

/** The prefix makes browsers keep it only with `Secure`, for this very host: no neighbour in the domain can set one. */
const SECURE_NAME = '__Host-punctual'
/** Over plain HTTP some browsers keep no `Secure` cookie, not even of this machine, and so none with the prefix. */
const LOOPBACK_NAME = 'punctual'
const ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Lax'
const LOOPBACK_HOST = /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i

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
