import type { TokenVerifier } from '../ports/settings.ts'
import type { Exchange, RequestRejector } from './request-rejector.ts'

const BEARER = /^bearer +(\S+) *$/i
const CHALLENGE = ['WWW-Authenticate', 'Bearer']

/** Finds the team of a request by its bearer token. Without a valid one the connection is closed. */
export class Authenticator {
  readonly #tokens: TokenVerifier
  readonly #rejector: RequestRejector

  constructor(tokens: TokenVerifier, rejector: RequestRejector) {
    this.#tokens = tokens
    this.#rejector = rejector
  }

  /** null once 401 has been answered. */
  teamOf(exchange: Exchange): string | null {
    const token = BEARER.exec(exchange.request.headers.authorization ?? '')?.[1]
    const team = token === undefined ? null : this.#tokens.teamOf(token)
    if (team !== null) return team
    const error = `${token === undefined ? 'Missing' : 'Invalid'} authorization token`
    this.#rejector.rejectAndClose(exchange, { status: 401, error, headers: CHALLENGE })
    return null
  }
}
