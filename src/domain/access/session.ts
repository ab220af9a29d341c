import type { Principal } from './principal.ts'

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

/** @param principal who is authenticated, by a token or as a user */
export function subjectOf({ kind, team, subject: name }: Principal): SessionSubject {
  return { kind, team: kind === 'token' ? team : null, name }
}

/** Where a session was opened. An earlier version did not note it. */
export interface SessionOrigin {
  /** In words, such as `Firefox on Windows`; null = not known. */
  readonly device: string | null
  /** Address of the client; null = not known. */
  readonly address: string | null
}

/** A session as lists show it. Its id tells sessions of a subject apart, and opens none. */
export interface ListedSession extends SessionOrigin {
  readonly id: string
  /** As of a session; null = an earlier version opened it. */
  readonly openedFor: string | null
  readonly createdAtMs: number
  /** Last use, to the minute. */
  readonly usedAtMs: number
  readonly idleEndMs: number
  readonly endMs: number
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
