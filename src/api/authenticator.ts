import type { Principal } from '../domain/access/principal.ts'
import type { TokenVerifier } from '../ports/settings.ts'
import type { Exchange, RequestRejector } from './request-rejector.ts'

const BEARER = /^bearer +(\S+) *$/i
const CHALLENGE = ['WWW-Authenticate', 'Bearer']

/** Finds out by its bearer token who sends a request. Without a valid one the connection is closed. */
export class Authenticator {
  readonly #tokens: TokenVerifier
  readonly #rejector: RequestRejector

  constructor(tokens: TokenVerifier, rejector: RequestRejector) {
    this.#tokens = tokens
    this.#rejector = rejector
  }

  /** null once 401 has been answered. */
  principalOf(exchange: Exchange): Principal | null {
    const token = BEARER.exec(exchange.request.headers.authorization ?? '')?.[1]
    const principal = token === undefined ? null : this.#tokens.principalOf(token)
    if (principal !== null) return principal
    const error = `${token === undefined ? 'Missing' : 'Invalid'} authorization token`
    this.#rejector.rejectAndClose(exchange, { status: 401, error, headers: CHALLENGE })
    return null
  }
}
