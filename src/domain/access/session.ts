/** A session ends this long after its last use, */
export const SESSION_IDLE_MS = 8 * 3_600_000
/** and this long after its login at the latest. */
export const SESSION_MAX_MS = 24 * 3_600_000
/** How long a code that logs in once may wait for its use. */
export const LOGIN_CODE_MS = 10 * 60_000
/** One session more ends the one that was unused for longest. */
export const SESSIONS_PER_SUBJECT_MAX = 20

/** A user whom an identity provider vouches for, as authorizers know one: with the prefixes of the cluster. */
export interface NamedUser {
  readonly username: string
  readonly groups: readonly string[]
}

/** The credential that a session stands for. */
export type SessionCredential =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'user'; readonly user: NamedUser }

/** Whoever logged in. */
export interface SessionSubject {
  readonly kind: 'token' | 'user'
  /** Team of a token; null for users, who have no team of their own. */
  readonly team: string | null
  readonly name: string
}

export interface Session {
  readonly subject: SessionSubject
  readonly credential: SessionCredential
  /** The team whose audit log has its login. */
  readonly openedFor: string
  readonly createdAtMs: number
  /** End of the session unless it is used before. */
  readonly idleEndMs: number
  /** End of the session, however much it is used. */
  readonly endMs: number
}
