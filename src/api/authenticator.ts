import type { Permission } from '../domain/access/permission.ts'
import type { Principal } from '../domain/access/principal.ts'
import { RETRY_AFTER_SECONDS } from '../domain/limits.ts'
import type { Admission, UserVerifier } from '../ports/access/user-verifier.ts'
import type { Clock } from '../ports/runtime.ts'
import type { TokenVerifier } from '../ports/settings.ts'
import type { TokenUses } from '../ports/access/tokens.ts'
import { forbiddenText } from './answers.ts'
import type { Exchange, Rejection, RequestRejector } from './request-rejector.ts'

const BEARER = /^bearer +(\S+) *$/i
const CHALLENGE = ['WWW-Authenticate', 'Bearer']

const MISSING: Rejection = { status: 401, error: 'Missing authorization token', headers: CHALLENGE }
const INVALID: Rejection = { status: 401, error: 'Invalid authorization token', headers: CHALLENGE }
const EXPIRED: Rejection = { status: 401, error: 'The authorization token has expired', headers: CHALLENGE }
const TEAM_NEEDED: Rejection = { status: 400, error: 'Name the team in the header X-Punctual-Team' }
const NO_TEAM: Rejection = { status: 404, error: 'Not found' }

interface AuthenticatorParts {
  readonly tokens: TokenVerifier
  /** Those who come with another token than ours; none when absent. */
  readonly users?: UserVerifier
  readonly rejector: RequestRejector
  readonly clock: Pick<Clock, 'wallMs'>
  readonly tokenUses: Pick<TokenUses, 'note'>
}

/** Null once it has been answered. A promise only for users: a push with a token of ours waits for nothing. */
export type FoundPrincipal = Principal | null | Promise<Principal | null>

/**
 * Finds out who sends a request, by its bearer token: one of ours, whose principal is known at once, or one of a user.
 * Without a valid one the connection is closed.
 */
export class Authenticator {
  readonly #parts: AuthenticatorParts

  constructor(parts: AuthenticatorParts) {
    this.#parts = parts
  }

  principalOf(exchange: Exchange): FoundPrincipal {
    const { tokens, users } = this.#parts
    const { headers, socket } = exchange.request
    const token = BEARER.exec(headers.authorization ?? '')?.[1]
    if (token === undefined) return this.#refuse(exchange, MISSING)
    const named = headers['x-punctual-team']
    const principal = tokens.principalOf(token)
    if (principal !== null) return this.#inNamedTeam(exchange, principal, named)
    if (users?.mayKnow(token) !== true) return this.#refuse(exchange, INVALID)
    const team = typeof named === 'string' ? named : null
    return users
      .admit(token, { team, address: socket.remoteAddress ?? null })
      .then((admission) => this.#admitted(exchange, admission))
  }

  /** As `principalOf`; null also once 403 has been answered because it lacks the permission. */
  principalWith(permission: Permission, exchange: Exchange): FoundPrincipal {
    const found = this.principalOf(exchange)
    return found instanceof Promise
      ? found.then((principal) => this.#permitted(permission, exchange, principal))
      : this.#permitted(permission, exchange, found)
  }

  #inNamedTeam(
    exchange: Exchange,
    principal: Principal,
    named: string | string[] | undefined,
  ): Principal | null {
    const expiresAtMs = principal.terms?.expiresAtMs ?? null
    // By our own clock, so that a token ends in time even while the source of tokens is away.
    const nowMs = this.#parts.clock.wallMs()
    if (expiresAtMs !== null && expiresAtMs <= nowMs) return this.#refuse(exchange, EXPIRED)
    // Whoever names a team must not act in another by mistake.
    if (named !== undefined && named !== principal.team) return this.#refuse(exchange, NO_TEAM)
    this.#parts.tokenUses.note(principal, nowMs)
    return principal
  }

  #admitted(exchange: Exchange, admission: Admission): Principal | null {
    // A client that has gone needs no answer, and its body will not come.
    if (exchange.request.socket.destroyed) return null
    return admission.kind === 'admitted'
      ? admission.principal
      : this.#refuse(exchange, rejectionOf(admission))
  }

  #permitted(permission: Permission, exchange: Exchange, principal: Principal | null): Principal | null {
    if (principal === null || principal.permissions.has(permission)) return principal
    this.#parts.rejector.reject(exchange, { status: 403, error: forbiddenText(permission) })
    return null
  }

  #refuse(exchange: Exchange, rejection: Rejection): null {
    this.#parts.rejector.rejectAndClose(exchange, rejection)
    return null
  }
}

function rejectionOf(admission: Exclude<Admission, { kind: 'admitted' }>): Rejection {
  switch (admission.kind) {
    case 'unknown':
      return INVALID
    case 'team_needed':
      return TEAM_NEEDED
    case 'no_team':
      return NO_TEAM
    case 'too_many':
      return {
        status: 429,
        error: 'Too many unknown tokens or teams, try again later',
        headers: retryAfter(admission.retryAfterMs),
      }
    case 'unavailable':
      return { status: 503, error: admission.reason, headers: retryAfter(admission.retryAfterMs) }
  }
}

function retryAfter(ms: number | null): readonly string[] {
  return ['Retry-After', String(ms === null ? RETRY_AFTER_SECONDS : Math.max(1, Math.ceil(ms / 1_000)))]
}
