import type { Permission } from '../domain/access/permission.ts'
import type { Principal } from '../domain/access/principal.ts'
import type { Clock } from '../ports/runtime.ts'
import type { TokenVerifier } from '../ports/settings.ts'
import { forbiddenText } from './answers.ts'
import type { Exchange, RequestRejector } from './request-rejector.ts'

const BEARER = /^bearer +(\S+) *$/i
const CHALLENGE = ['WWW-Authenticate', 'Bearer']

/** Finds out by its bearer token who sends a request. Without a valid one the connection is closed. */
export class Authenticator {
  readonly #tokens: TokenVerifier
  readonly #rejector: RequestRejector
  readonly #clock: Pick<Clock, 'wallMs'>

  constructor(tokens: TokenVerifier, rejector: RequestRejector, clock: Pick<Clock, 'wallMs'>) {
    this.#tokens = tokens
    this.#rejector = rejector
    this.#clock = clock
  }

  /** null once 401 has been answered. */
  principalOf(exchange: Exchange): Principal | null {
    const token = BEARER.exec(exchange.request.headers.authorization ?? '')?.[1]
    if (token === undefined) return this.#refuse(exchange, 'Missing authorization token')
    const principal = this.#tokens.principalOf(token)
    if (principal === null) return this.#refuse(exchange, 'Invalid authorization token')
    const expiresAtMs = principal.terms?.expiresAtMs ?? null
    // By our own clock, so that a token ends in time even while the source of tokens is away.
    return expiresAtMs !== null && expiresAtMs <= this.#clock.wallMs()
      ? this.#refuse(exchange, 'The authorization token has expired')
      : principal
  }

  /** As `principalOf`; null also once 403 has been answered because it lacks the permission. */
  principalWith(permission: Permission, exchange: Exchange): Principal | null {
    const principal = this.principalOf(exchange)
    if (principal === null || principal.permissions.has(permission)) return principal
    this.#rejector.reject(exchange, { status: 403, error: forbiddenText(permission) })
    return null
  }

  #refuse(exchange: Exchange, error: string): null {
    this.#rejector.rejectAndClose(exchange, { status: 401, error, headers: CHALLENGE })
    return null
  }
}
