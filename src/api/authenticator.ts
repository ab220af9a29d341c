import type { IncomingMessage } from 'node:http'
import type { Permission } from '../domain/access/permission.ts'
import type { Principal } from '../domain/access/principal.ts'
import { RETRY_AFTER_SECONDS } from '../domain/limits.ts'
import type { Admission, UserAuthorizer, UserVerifier, Visit } from '../ports/access/user-verifier.ts'
import type { LoginGrant } from '../ports/access/login-codes.ts'
import type { TokenUses } from '../ports/access/tokens.ts'
import type { Clock } from '../ports/runtime.ts'
import type { TokenVerifier } from '../ports/settings.ts'
import type { TokenRates } from '../ports/access/token-rates.ts'
import type { AddressOf } from './bounds/client-addresses.ts'
import { overRate, showRate } from './access/rate-headers.ts'
import { type CountedRate, countRates } from './access/shared-rates.ts'
import { forbiddenText } from './answers.ts'
import type { Exchange, Rejection, RequestRejector } from './request-rejector.ts'
import type { OpenSession, SessionGate } from './sessions/session-gate.ts'

const BEARER = /^bearer +(\S+) *$/i
export const CHALLENGE = ['WWW-Authenticate', 'Bearer']

const MISSING: Rejection = { status: 401, error: 'Missing authorization token', headers: CHALLENGE }
const INVALID: Rejection = { status: 401, error: 'Invalid authorization token', headers: CHALLENGE }
const EXPIRED: Rejection = { status: 401, error: 'The authorization token has expired', headers: CHALLENGE }
const TEAM_NEEDED: Rejection = { status: 400, error: 'Name the team in the header X-Punctual-Team' }
const NO_TEAM: Rejection = { status: 404, error: 'Not found' }
const NO_SESSION: Rejection = { status: 401, error: 'There is no session', headers: CHALLENGE }

interface AuthenticatorParts {
  readonly tokens: TokenVerifier
  /** Verifies users who come with a token that is not ours; absent = there are none. */
  readonly users?: UserVerifier
  readonly sessions: SessionGate
  /** Absent = sessions of OIDC users end. */
  readonly oidc?: { readonly authorizer: UserAuthorizer }
  readonly rejector: RequestRejector
  readonly addressOf: AddressOf
  readonly clock: Pick<Clock, 'wallMs'>
  readonly tokenUses: Pick<TokenUses, 'note'>
  readonly tokenRates: TokenRates
}

/** Null once it has been answered. No promise for a token of ours without a rate limit: its push waits for nothing. */
export type FoundPrincipal = Principal | null | Promise<Principal | null>

/**
 * Finds out who sends a request: by its bearer token, one of ours, whose principal is known at once, or one of a user; or
 * by its session. Without a valid one the connection is closed.
 */
export class Authenticator {
  readonly #parts: AuthenticatorParts

  constructor(parts: AuthenticatorParts) {
    this.#parts = parts
  }

  principalOf(exchange: Exchange): FoundPrincipal {
    const found = this.#find(exchange)
    if (found instanceof Promise) return found.then((principal) => this.#limited(exchange, principal))
    return this.#limited(exchange, found)
  }

  #find(exchange: Exchange): FoundPrincipal {
    const { tokens, users } = this.#parts
    const token = bearerOf(exchange.request)
    if (token === null) return this.#bySession(exchange)
    const principal = tokens.principalOf(token)
    if (principal !== null) return this.#settled(exchange, this.#admissionIn(exchange, principal))
    if (users?.mayKnow(token) !== true) return this.#refuse(exchange, INVALID)
    return users.admit(token, this.#visitOf(exchange)).then((admission) => this.#settled(exchange, admission))
  }

  /** Answers like `principalOf`; null also once it has answered 403 because the principal lacks the permission. */
  principalWith(permission: Permission, exchange: Exchange): FoundPrincipal {
    const found = this.principalOf(exchange)
    return found instanceof Promise
      ? found.then((principal) => this.#permitted(permission, exchange, principal))
      : this.#permitted(permission, exchange, found)
  }

  /**
   * The session of a request that has no token; null once it has been answered.
   * @param options.isAlive whether what it stands for must still be valid, whatever the team
   */
  async sessionOf(
    exchange: Exchange,
    { isAlive }: { readonly isAlive: boolean },
  ): Promise<OpenSession | null> {
    const found = await this.#parts.sessions.find(exchange.request)
    if (found === null) return this.#refuse(exchange, NO_SESSION)
    if ('status' in found) return this.#refuse(exchange, found)
    // Whoever leaves is let go, also beyond the rate limit.
    if (!isAlive) return found
    const admission = await this.#admissionOf(exchange, found)
    if (hasEnded(admission)) {
      return this.#refuse(exchange, await this.#parts.sessions.end(exchange.request, found))
    }
    const isWithin = admission.kind !== 'admitted' || (await this.#limited(exchange, admission.principal))
    return isWithin ? found : null
  }

  /**
   * Looks up again who sent a request that was let in, without answering it; null = nobody any more, `unknown` = it
   * cannot be told. Throws StoreUnavailableError.
   */
  async principalNow(exchange: Exchange): Promise<Principal | null | 'unknown'> {
    const admission = await this.#admissionNow(exchange)
    if (admission.kind === 'admitted') return admission.principal
    return admission.kind === 'unavailable' || admission.kind === 'too_many' ? 'unknown' : null
  }

  /** Finds the principal of a token that did not come as a bearer token; null once it has been answered. */
  async principalOfToken(exchange: Exchange, { token, team }: LoginGrant): Promise<Principal | null> {
    return this.#settled(exchange, await this.#admissionOfToken(exchange, token, team))
  }

  async #admissionNow(exchange: Exchange): Promise<OwnAdmission> {
    const token = bearerOf(exchange.request)
    if (token !== null) return this.#admissionOfToken(exchange, token)
    const found = await this.#parts.sessions.find(exchange.request)
    return found === null || 'status' in found ? { kind: 'unknown' } : this.#admissionOf(exchange, found)
  }

  #bySession(exchange: Exchange): FoundPrincipal {
    const { sessions } = this.#parts
    const finding = sessions.find(exchange.request)
    if (finding === null) return this.#refuse(exchange, MISSING)
    return finding.then(async (found) => {
      if ('status' in found) return this.#refuse(exchange, found)
      const admission = await this.#admissionOf(exchange, found)
      return hasEnded(admission)
        ? this.#refuse(exchange, await sessions.end(exchange.request, found))
        : this.#settled(exchange, admission)
    })
  }

  /** Admits what the session stands for: it gives no more than its token, and ends with it. */
  async #admissionOf(exchange: Exchange, { session }: OpenSession): Promise<OwnAdmission> {
    const { credential } = session
    if (credential.kind === 'token') return this.#admissionOfToken(exchange, credential.token)
    return (
      this.#parts.oidc?.authorizer.admitUser(credential.user, this.#visitOf(exchange)) ?? { kind: 'unknown' }
    )
  }

  async #admissionOfToken(exchange: Exchange, token: string, team?: string): Promise<OwnAdmission> {
    const { tokens, users } = this.#parts
    const principal = tokens.principalOf(token)
    if (principal !== null) return this.#admissionIn(exchange, principal)
    if (users?.mayKnow(token) !== true) return { kind: 'unknown' }
    const visit = this.#visitOf(exchange)
    return users.admit(token, { ...visit, team: team ?? visit.team })
  }

  /** Admits a token of ours. */
  #admissionIn({ request }: Exchange, principal: Principal): OwnAdmission {
    const expiresAtMs = principal.terms?.expiresAtMs ?? null
    // By our own clock, so that a token ends in time even while the source of tokens is away.
    const nowMs = this.#parts.clock.wallMs()
    if (expiresAtMs !== null && expiresAtMs <= nowMs) return { kind: 'expired' }
    const named = request.headers['x-punctual-team']
    // Whoever names a team must not act in another by mistake.
    if (named !== undefined && named !== principal.team) return { kind: 'no_team' }
    this.#parts.tokenUses.note(principal, nowMs)
    return { kind: 'admitted', principal }
  }

  #visitOf({ request }: Exchange): Visit {
    const named = request.headers['x-punctual-team']
    return { team: typeof named === 'string' ? named : null, address: this.#parts.addressOf(request) }
  }

  /** A token without a rate limit costs nothing here. */
  #limited(exchange: Exchange, principal: Principal | null): FoundPrincipal {
    const limits = principal?.rates ?? []
    if (principal === null || limits.length === 0) return principal
    const { team, subject } = principal
    const end = (counted: CountedRate | null): Principal | null => {
      if (counted === null) return principal
      const { limit, admission } = counted
      if (exchange.request.socket.destroyed) return null
      showRate(exchange.response, limit, admission)
      if (admission.isAdmitted) return principal
      const maker = limit.name === subject ? null : limit.name
      this.#parts.rejector.reject(exchange, overRate(admission, maker))
      return null
    }
    const counted = countRates({ team, limits }, this.#parts.tokenRates)
    return counted instanceof Promise ? counted.then(end) : end(counted)
  }

  #settled(exchange: Exchange, admission: OwnAdmission): Principal | null {
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

type OwnAdmission = Admission | { readonly kind: 'expired' }

function hasEnded({ kind }: OwnAdmission): boolean {
  return kind === 'unknown' || kind === 'expired'
}

/** The bearer token of a request; null without one. */
export function bearerOf({ headers }: IncomingMessage): string | null {
  return BEARER.exec(headers.authorization ?? '')?.[1] ?? null
}

function rejectionOf(admission: Exclude<OwnAdmission, { kind: 'admitted' }>): Rejection {
  switch (admission.kind) {
    case 'unknown':
      return INVALID
    case 'expired':
      return EXPIRED
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
