import { hash } from 'node:crypto'
import { AttemptLimit } from '../../domain/access/attempt-limit.ts'
import type { Permissions } from '../../domain/access/permission.ts'
import { userPrincipal } from '../../domain/access/user-principal.ts'
import type { NamedUser } from '../../domain/access/session.ts'
import { reasonOf, ResourceApiError, StoreUnavailableError } from '../../domain/errors.ts'
import type { NamespaceClaims } from '../../ports/access/namespaces.ts'
import type { Admission, UserAuthorizer, UserVerifier, Visit } from '../../ports/access/user-verifier.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { Transport } from '../client/transport.ts'
import { AccessReviews, type ReviewedUser } from './access-reviews.ts'
import { ReviewMemory } from './review-memory.ts'
import { shapeOf } from './token-shape.ts'

/** How long an answer of the API server counts: rights that are taken away end within this time. */
export const GRANTED_MS = 30_000
export const REFUSED_MS = 5_000
const TOKENS = { entriesMax: 10_000, asksMax: 32 }
/** Each is seven questions. */
const RIGHTS = { entriesMax: 10_000, asksMax: 16 }
/** Refused tokens of an address, and refused teams of a user. */
export const REFUSALS = { burst: 20, refillMs: 1_000, keysMax: 10_000 }
const BUSY: Admission = {
  kind: 'unavailable',
  reason: 'Too many users are being checked, try again',
  retryAfterMs: 1_000,
}
const FORMER: Admission = {
  kind: 'unavailable',
  reason: 'The namespace was made anew, and what the former one has left is being removed, try again',
  retryAfterMs: REFUSED_MS,
}
const STORE_AWAY: Admission = {
  kind: 'unavailable',
  reason: 'The job store is unavailable, try again',
  retryAfterMs: 1_000,
}
/** By a fault that is neither Redis' nor the API server's, such as a right that our user of Redis lacks. */
const UNCHECKED: Admission = {
  kind: 'unavailable',
  reason: 'Users cannot be checked at present, try again',
  retryAfterMs: null,
}
const LOG_PAUSE_MS = 60_000
const NAMESPACE = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/

/** Which tokens are shown to the API server. `jwt`: only those that look like one; `any`: opaque ones too. */
export type UserTokens = 'jwt' | 'any'

interface KubernetesUsersOptions {
  readonly transport: Transport
  readonly tokens: UserTokens
  /** That tokens must be for; null = the API server's own. */
  readonly audience: string | null
  /** null = all, or by a selector. */
  readonly namespaces: readonly string[] | null
  /** Throws ResourceApiError while that is not known. */
  readonly isWatched: (namespace: string) => boolean
  /** Keeps what a namespace has left from another of its name. */
  readonly claims: NamespaceClaims
  readonly clock: Clock
  readonly logger: Logger
}

interface Known {
  readonly user: ReviewedUser | null
}

interface Rights {
  readonly permissions: Permissions | null
  /** What Redis has of the team belongs to a former namespace of the name, and is being removed. */
  readonly isFormer?: boolean
}

/**
 * The users of the cluster, by TokenReview and SubjectAccessReview. Owns what is remembered of both. Random tokens cost
 * the API server little: one that is refused uses up an attempt of its address, and so does a refused team of its user.
 */
export class KubernetesUsers implements UserVerifier, UserAuthorizer {
  readonly #options: KubernetesUsersOptions
  readonly #reviews: AccessReviews
  readonly #known: ReviewMemory<Known>
  readonly #rights: ReviewMemory<Rights>
  readonly #refusals = new AttemptLimit(REFUSALS)
  #logAgainAtMs = Number.NEGATIVE_INFINITY

  constructor(options: KubernetesUsersOptions) {
    this.#options = options
    this.#reviews = new AccessReviews(options.transport, options.clock)
    this.#known = new ReviewMemory(options.clock, TOKENS, ({ user }) =>
      user === null ? REFUSED_MS : GRANTED_MS,
    )
    this.#rights = new ReviewMemory(options.clock, RIGHTS, ({ permissions }) =>
      permissions === null ? REFUSED_MS : GRANTED_MS,
    )
  }

  mayKnow(token: string): boolean {
    const shape = shapeOf(token)
    return shape !== null && (shape.isJwt || this.#options.tokens === 'any')
  }

  async admit(token: string, visit: Visit): Promise<Admission> {
    const { expiresAtMs = null } = shapeOf(token) ?? {}
    // Also while the API server's answer is still remembered.
    if (expiresAtMs !== null && expiresAtMs <= this.#options.clock.wallMs()) return { kind: 'unknown' }
    try {
      const known = await this.#identify(token, visit.address ?? '')
      if ('kind' in known) return known
      return known.user === null ? { kind: 'unknown' } : await this.#inTeam(known.user, visit.team)
    } catch (error) {
      return this.#unavailable(error)
    }
  }

  async admitUser(user: NamedUser, visit: Visit): Promise<Admission> {
    try {
      // As the API server adds it to everyone who has logged in.
      const groups = [...user.groups, 'system:authenticated']
      return await this.#inTeam({ ...user, groups }, visit.team)
    } catch (error) {
      return this.#unavailable(error)
    }
  }

  #identify(token: string, address: string): Promise<Known | Admission> {
    // Random tokens must not be guessed by how long a comparison takes, nor lie in memory.
    const key = hash('sha256', token, 'base64url')
    return this.#recall(this.#known, key, {
      taker: `address ${address}`,
      isGood: ({ user }) => user !== null,
      ask: async () => ({ user: await this.#reviews.userOf(token, this.#options.audience) }),
    })
  }

  async #inTeam(user: ReviewedUser, named: string | null): Promise<Admission> {
    const { namespaces } = this.#options
    const team = named ?? (namespaces?.length === 1 ? (namespaces[0] ?? null) : null)
    if (team === null) return { kind: 'team_needed' }
    if (!NAMESPACE.test(team) || !this.#options.isWatched(team)) return { kind: 'no_team' }
    const key = hash('sha256', JSON.stringify([team, user]), 'base64url')
    const rights = await this.#recall(this.#rights, key, {
      taker: `user ${user.username}`,
      isGood: ({ permissions, isFormer }) => permissions !== null || isFormer === true,
      ask: () => this.#askRights(user, team),
    })
    if ('kind' in rights) return rights
    if (rights.isFormer === true) return FORMER
    const { permissions } = rights
    if (permissions === null) return { kind: 'no_team' }
    return { kind: 'admitted', principal: userPrincipal(team, user.username, permissions) }
  }

  async #askRights(user: ReviewedUser, team: string): Promise<Rights> {
    const isKnown = this.#options.namespaces !== null
    const rights = await this.#reviews.rightsOf(user, team, { isKnown })
    if (rights === null) return { permissions: null }
    const { permissions, uid } = rights
    const isFormer = uid !== null && (await this.#options.claims.claim(team, uid)) !== uid
    return isFormer ? { permissions: null, isFormer } : { permissions }
  }

  /** What is remembered or now asked. Who was good when last asked needs no attempt. */
  async #recall<V extends object>(
    memory: ReviewMemory<V>,
    key: string,
    { taker, isGood, ask }: { taker: string; isGood: (value: V) => boolean; ask: () => Promise<V> },
  ): Promise<V | Admission> {
    const known = memory.fresh(key) ?? memory.asked(key)
    // Nothing may be awaited before the question begins: others would begin theirs.
    if (known !== undefined) return known
    const { clock } = this.#options
    const last = memory.last(key)
    const isTrusted = last !== undefined && isGood(last)
    const retryAfterMs = isTrusted ? 0 : this.#refusals.take(taker, clock.monotonicMs())
    if (retryAfterMs > 0) return { kind: 'too_many', retryAfterMs }
    let isRefused = false
    try {
      if (memory.isBusy) return BUSY
      const value = await memory.ask(key, ask)
      isRefused = !isGood(value)
      return value
    } finally {
      if (!isTrusted && !isRefused) this.#refusals.giveBack(taker)
    }
  }

  #unavailable(error: unknown): Admission {
    if (error instanceof StoreUnavailableError) return STORE_AWAY
    const { clock, logger } = this.#options
    const nowMs = clock.monotonicMs()
    if (nowMs >= this.#logAgainAtMs) {
      this.#logAgainAtMs = nowMs + LOG_PAUSE_MS
      logger.warn('Users of the cluster cannot be checked', { reason: reasonOf(error) })
    }
    if (!(error instanceof ResourceApiError)) return UNCHECKED
    const reason = 'The Kubernetes API is unavailable, try again'
    return { kind: 'unavailable', reason, retryAfterMs: error.retryAfterMs }
  }
}
