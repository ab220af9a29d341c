import { hash } from 'node:crypto'
import { AttemptLimit } from '../../domain/access/attempt-limit.ts'
import { LruCache } from '../../domain/lru-cache.ts'
import { addressBlock } from '../../domain/net/client-address.ts'
import { FairTurns, NoTurnError } from '../../domain/shares/fair-turns.ts'
import type { Permissions } from '../../domain/access/permission.ts'
import { userPrincipal } from '../../domain/access/user-principal.ts'
import type { NamedUser } from '../../domain/access/session.ts'
import { reasonOf, ResourceApiError, StoreUnavailableError } from '../../domain/errors.ts'
import type { NamespaceClaims } from '../../ports/access/namespaces.ts'
import type { Admission, UserAuthorizer, UserVerifier, Visit } from '../../ports/access/user-verifier.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { Transport } from '../client/transport.ts'
import { AccessReviews, type ReviewedUser } from './access-reviews.ts'
import { ClusterKeys } from './cluster-keys.ts'
import { isInTime, type Jwt, readToken } from './jwt.ts'
import { ReviewMemory } from './review-memory.ts'
import { holderNamed, type Standing, TokenLanes } from './token-lanes.ts'

/** How long an answer of the API server counts: rights that are taken away end within this time. */
export const GRANTED_MS = 30_000
export const REFUSED_MS = 5_000
/** At most this many tokens, and as many users in teams, are remembered. */
const ENTRIES_MAX = 10_000
/**
 * At most this many users in teams may have their rights asked for at once, and as many may wait. Each costs seven
 * questions.
 */
const RIGHTS_TURNS = { atOnce: 16, waiting: 200, waitMs: 5_000 }
/**
 * Bounds the refused tokens of an address, for each subject that was here before and for all others together, and the
 * refused teams of a user.
 */
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
/**
 * The answer when neither Redis nor the API server is at fault, for example because our user of Redis lacks a right.
 */
const UNCHECKED: Admission = {
  kind: 'unavailable',
  reason: 'Users cannot be checked at present, try again',
  retryAfterMs: null,
}
const LOG_PAUSE_MS = 60_000
const NAMESPACE = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/

/**
 * Says which tokens are shown to the API server: `jwt`, those that somebody signed with a private key, or `any`, others
 * too.
 */
export type UserTokens = 'jwt' | 'any'

interface KubernetesUsersOptions {
  readonly transport: Transport
  readonly tokens: UserTokens
  /** The audience that tokens must be for; null = the API server's own. */
  readonly audience: string | null
  /** null = all namespaces, or those of a selector. */
  readonly namespaces: readonly string[] | null
  /** Throws ResourceApiError while the watched namespaces are not known. */
  readonly isWatched: (namespace: string) => boolean
  /** Keeps users of a namespace away from the data of a former namespace of the same name. */
  readonly claims: NamespaceClaims
  readonly clock: Clock
  readonly logger: Logger
}

interface Known {
  readonly user: ReviewedUser | null
}

interface Rights {
  readonly permissions: Permissions | null
  /** What Redis has of the team belongs to a former namespace of the same name, and is being removed. */
  readonly isFormer?: boolean
}

/** A question to the API server, and how it counts against whoever caused it. */
interface Question<V> extends Pick<Standing, 'taker' | 'holder'> {
  readonly turns: FairTurns
  /** true = no attempt is taken before the answer, but one is used up if the API server refuses. */
  readonly isLikelyGood: boolean
  readonly ask: () => Promise<V>
}

/**
 * Authenticates and authorizes the users of the cluster by TokenReview and SubjectAccessReview. Owns the answers that
 * it remembers, the cluster's keys and the places of questions under way. Made-up tokens cost the cluster's own tokens
 * nothing, because those are told by their signature before anything is counted. Any other token that is refused uses
 * up an attempt of its address.
 */
export class KubernetesUsers implements UserVerifier, UserAuthorizer {
  readonly #options: KubernetesUsersOptions
  readonly #reviews: AccessReviews
  readonly #keys: ClusterKeys
  readonly #lanes: TokenLanes
  readonly #known: ReviewMemory<Known>
  readonly #rights: ReviewMemory<Rights>
  readonly #rightsTurns: FairTurns
  /** The users that had rights in a team when last asked. */
  readonly #granted = new LruCache<string, true>(ENTRIES_MAX)
  /** By team and user, the question that others wait for before they ask their own. */
  readonly #firstAsks = new Map<string, Promise<void>>()
  readonly #refusals = new AttemptLimit(REFUSALS)
  #logAgainAtMs = Number.NEGATIVE_INFINITY

  constructor(options: KubernetesUsersOptions) {
    const { clock } = options
    this.#options = options
    this.#reviews = new AccessReviews(options.transport, clock)
    this.#keys = new ClusterKeys(options)
    this.#lanes = new TokenLanes(clock)
    this.#rightsTurns = new FairTurns(clock, RIGHTS_TURNS)
    this.#known = new ReviewMemory(clock, {
      entriesMax: ENTRIES_MAX,
      isGood: ({ user }) => user !== null,
      keepMs: ({ user }) => (user === null ? REFUSED_MS : GRANTED_MS),
    })
    this.#rights = new ReviewMemory(clock, {
      entriesMax: ENTRIES_MAX,
      isGood: ({ permissions, isFormer }) => permissions !== null || isFormer === true,
      keepMs: ({ permissions }) => (permissions === null ? REFUSED_MS : GRANTED_MS),
    })
  }

  mayKnow(token: string): boolean {
    return this.#read(token) !== null
  }

  async admit(token: string, visit: Visit): Promise<Admission> {
    const read = this.#read(token)
    if (read === null) return { kind: 'unknown' }
    const jwt = read === 'opaque' ? null : read
    // A token that is out of its time is refused even while the API server's answer is still remembered.
    if (jwt !== null && !isInTime(jwt, this.#options.clock.wallMs())) return { kind: 'unknown' }
    try {
      const known = await this.#identify(token, jwt, addressBlock(visit.address))
      if ('kind' in known) return known
      return known.user === null ? { kind: 'unknown' } : await this.#inTeam(known.user, visit.team)
    } catch (error) {
      return this.#unavailable(error)
    }
  }

  async admitUser(user: NamedUser, visit: Visit): Promise<Admission> {
    try {
      // The API server adds this group to everyone who has logged in.
      const groups = [...user.groups, 'system:authenticated']
      return await this.#inTeam({ ...user, groups }, visit.team)
    } catch (error) {
      return this.#unavailable(error)
    }
  }

  /** null = the token is not worth a question. */
  #read(token: string): Jwt | 'opaque' | null {
    const read = readToken(token)
    return read === 'opaque' && this.#options.tokens !== 'any' ? null : read
  }

  async #identify(token: string, jwt: Jwt | null, address: string): Promise<Known | Admission> {
    // A token must not lie in memory, nor be guessed by how long a comparison takes.
    const key = hash('sha256', token, 'base64url')
    const known = this.#known.fresh(key) ?? this.#known.asked(key)
    if (known !== undefined) return known
    const standing = await this.#standingOf(key, jwt, address)
    if (standing === 'forged') return { user: null }
    const { lane } = standing
    const pool = lane === 'unknown' ? 'doubt' : 'review'
    return this.#recall(this.#known, key, {
      ...standing,
      turns: this.#lanes.turns[lane],
      isLikelyGood: lane === 'genuine',
      ask: async () => {
        const user = await this.#reviews.userOf(token, { audience: this.#options.audience, pool })
        if (user !== null && jwt !== null) this.#lanes.note(jwt)
        return { user }
      },
    })
  }

  async #standingOf(key: string, jwt: Jwt | null, address: string): Promise<Standing | 'forged'> {
    // A token that the API server knew when last asked was not made up.
    const isKnown = this.#known.wasGood(key)
    const origin = isKnown ? 'genuine' : jwt === null ? 'open' : await this.#keys.originOf(jwt)
    return origin === 'forged' ? origin : this.#lanes.standingOf(jwt, { origin, address })
  }

  async #inTeam(user: ReviewedUser, named: string | null): Promise<Admission> {
    const { namespaces } = this.#options
    const team = named ?? (namespaces?.length === 1 ? (namespaces[0] ?? null) : null)
    if (team === null) return { kind: 'team_needed' }
    if (!NAMESPACE.test(team) || !this.#options.isWatched(team)) return { kind: 'no_team' }
    const key = hash('sha256', JSON.stringify([team, user]), 'base64url')
    const rights = await this.#rightsOf(user, team, key)
    if ('kind' in rights) return rights
    if (rights.isFormer === true) return FORMER
    const { permissions } = rights
    if (permissions === null) return { kind: 'no_team' }
    return { kind: 'admitted', principal: userPrincipal(team, user.username, permissions) }
  }

  /** Pods that start together ask for the same rights by tokens that differ: the first one tells whether there are any. */
  async #rightsOf(user: ReviewedUser, team: string, key: string): Promise<Rights | Admission> {
    const pair = `${team} ${user.username}`
    const hadRights = (): boolean => this.#granted.get(pair) === true
    const first = this.#firstAsks.get(pair)
    // A user who is known to have had rights uses up no attempt of others, and so need not wait for any.
    if (first !== undefined && !hadRights()) await first
    const asking = this.#recall(this.#rights, key, {
      taker: `user ${user.username}`,
      holder: holderNamed(user.username),
      turns: this.#rightsTurns,
      isLikelyGood: hadRights(),
      ask: async () => {
        const rights = await this.#askRights(user, team)
        if (rights.permissions !== null) this.#granted.set(pair, true)
        return rights
      },
    })
    if (!hadRights() && !this.#firstAsks.has(pair)) {
      const over = (): void => void this.#firstAsks.delete(pair)
      this.#firstAsks.set(pair, asking.then(over, over))
    }
    return asking
  }

  async #askRights(user: ReviewedUser, team: string): Promise<Rights> {
    const isKnown = this.#options.namespaces !== null
    const rights = await this.#reviews.rightsOf(user, team, { isKnown })
    if (rights === null) return { permissions: null }
    const { permissions, uid } = rights
    const isFormer = uid !== null && (await this.#options.claims.claim(team, uid)) !== uid
    return isFormer ? { permissions: null, isFormer } : { permissions }
  }

  /** Answers what is remembered, or asks. A key whose last answer was good needs no attempt. */
  async #recall<V extends object>(
    memory: ReviewMemory<V>,
    key: string,
    { taker, holder, turns, isLikelyGood, ask }: Question<V>,
  ): Promise<V | Admission> {
    const known = memory.fresh(key) ?? memory.asked(key)
    // Nothing may be awaited before the question begins, or others would begin theirs.
    if (known !== undefined) return known
    if (memory.wasGood(key)) return memory.ask(key, () => turns.run(holder, ask))
    const nowMs = (): number => this.#options.clock.monotonicMs()
    const retryAfterMs = this.#refusals.take(taker, nowMs())
    if (retryAfterMs > 0) return { kind: 'too_many', retryAfterMs }
    // Many that come at once must not use up the attempts of their subject, so this one is given back.
    if (isLikelyGood) this.#refusals.giveBack(taker)
    let isRefused = false
    try {
      const value = await memory.ask(key, () => turns.run(holder, ask))
      isRefused = !memory.isGood(value)
      return value
    } finally {
      if (isLikelyGood && isRefused) this.#refusals.take(taker, nowMs())
      if (!isLikelyGood && !isRefused) this.#refusals.giveBack(taker)
    }
  }

  #unavailable(error: unknown): Admission {
    if (error instanceof NoTurnError) return BUSY
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
