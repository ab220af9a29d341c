import type { Scope } from './permission.ts'

/** Names of queues that a token may be limited to. */
export const TOKEN_QUEUES_MAX = 100
export const TOKEN_RATE_MAX = 100_000
/** Rate limits of other tokens that one may share: so often may a token with a limit make one with a lower limit. */
export const SHARED_RATES_MAX = 4

/** The longest life of a token that a user makes, who may lose their rights before it ends. */
export const TOKEN_DAYS_BY_USER_MAX = 365

export interface RateLimit {
  /** 1 to TOKEN_RATE_MAX. */
  readonly requestsPerSecond: number
  /** Requests that may come at once; 1 to TOKEN_RATE_MAX. */
  readonly burst: number
}

/** A rate limit, and the token whose requests it counts. */
export interface TokenRate extends RateLimit {
  readonly name: string
}

/** The rate limit of a token. */
export interface OwnRateLimit extends RateLimit {
  /**
   * The limits of who made the token, which its requests count for as well, outermost first, at most SHARED_RATES_MAX:
   * otherwise a token could make others to send more than it may. Absent where the maker had none.
   */
  readonly sharedWith?: readonly TokenRate[]
}

/** Limits of a token. */
export interface TokenTerms {
  /** Empty = all. */
  readonly scopes: readonly Scope[]
  /** Names of queues, at most TOKEN_QUEUES_MAX; null = all. */
  readonly queues: readonly string[] | null
  /** The token is refused from then on; null = never. */
  readonly expiresAtMs: number | null
  /** null = as often as it likes. */
  readonly rateLimit: OwnRateLimit | null
}

export const NO_TERMS: TokenTerms = Object.freeze({
  scopes: Object.freeze([]),
  queues: null,
  expiresAtMs: null,
  rateLimit: null,
})

export function isUnlimited({ scopes, queues, expiresAtMs, rateLimit }: TokenTerms): boolean {
  return scopes.length === 0 && queues === null && expiresAtMs === null && rateLimit === null
}
