import type { Principal } from '../../domain/access/principal.ts'
import type { NamedUser } from '../../domain/access/session.ts'

/** Whom the answers are for, and how much it may ask. */
export interface Visit {
  /** The team that the request names; null = none. */
  readonly team: string | null
  /** Address the request came from; null = unknown. */
  readonly address: string | null
}

/** Verdict on a credential. */
export type Admission =
  | { readonly kind: 'admitted'; readonly principal: Principal }
  /** Nobody's, expired or revoked. */
  | { readonly kind: 'unknown' }
  /** The user is known, and the request has to name a team. */
  | { readonly kind: 'team_needed' }
  /** There is no such team for this user. */
  | { readonly kind: 'no_team' }
  /** Too many unknown tokens or teams. */
  | { readonly kind: 'too_many'; readonly retryAfterMs: number }
  /** Whoever decides cannot be asked now. */
  | { readonly kind: 'unavailable'; readonly reason: string; readonly retryAfterMs: number | null }

/** The people whom something else than our tokens vouches for. */
export interface UserVerifier {
  /** Whether a token that is not one of ours is worth asking about. */
  mayKnow(token: string): boolean
  /** Answers from memory for some seconds. Never throws. */
  admit(token: string, visit: Visit): Promise<Admission>
}

/** Says what users may do whom somebody else vouches for. */
export interface UserAuthorizer {
  /** Answers from memory for some seconds. Never throws, and never `unknown`. */
  admitUser(user: NamedUser, visit: Visit): Promise<Admission>
}
