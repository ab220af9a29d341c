import type { IncomingMessage } from 'node:http'
import type { Session } from '../../domain/access/session.ts'
import type { SessionStore } from '../../ports/access/session-store.ts'
import type { Rejection } from '../request-rejector.ts'
import { sessionCookie, sessionIdOf } from './session-cookie.ts'

const SAFE_METHODS: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD'])
const FORGED: Rejection = {
  status: 403,
  error: 'A change with a session needs the header X-Punctual-Request, from a page of the same origin',
}

/** A session that is in use, with the id that came in the cookie. */
export interface OpenSession {
  readonly id: string
  readonly session: Session
}

/** Finds the session of a request that has no token. */
export class SessionGate {
  readonly #sessions: SessionStore

  constructor(sessions: SessionStore) {
    this.#sessions = sessions
  }

  /** null = the request carries none. Throws StoreUnavailableError. */
  find(request: IncomingMessage): Promise<OpenSession | Rejection> | null {
    const id = sessionIdOf(request)
    if (id === null) return null
    return isForged(request) ? Promise.resolve(FORGED) : this.#open(request, id)
  }

  /** Ends a session whose token has ended. */
  async end(request: IncomingMessage, { id }: OpenSession): Promise<Rejection> {
    await this.#sessions.end(id)
    return ended(request)
  }

  async #open(request: IncomingMessage, id: string): Promise<OpenSession | Rejection> {
    const session = await this.#sessions.use(id)
    return session === null ? ended(request) : { id, session }
  }
}

/**
 * Another site's page can make a browser send a request with our cookie, but cannot give it a header of its own, nor say
 * that it comes from our origin.
 */
function isForged({ method, headers }: IncomingMessage): boolean {
  if (SAFE_METHODS.has(method)) return false
  return headers['x-punctual-request'] === undefined || headers['sec-fetch-site'] !== 'same-origin'
}

function ended(request: IncomingMessage): Rejection {
  const headers = ['WWW-Authenticate', 'Bearer', 'Set-Cookie', sessionCookie(request, null, 0)]
  return { status: 401, error: 'The session has ended', headers }
}
