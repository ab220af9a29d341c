import type { ListedSession, Session, SessionOrigin, SessionSubject } from '../../domain/access/session.ts'

/**
 * Sessions of browsers. An id is a secret: it opens what the session stands for, and only its hash is stored. Lists have
 * ids of their own, which open nothing. Throws StoreUnavailableError.
 */
export interface SessionStore {
  open(
    login: Pick<Session, 'subject' | 'credential' | 'openedFor'>,
    origin: SessionOrigin,
  ): Promise<{ readonly id: string; readonly session: Session }>
  /** Counts as a use. null = there is no such session, or it has ended. */
  use(id: string): Promise<Session | null>
  end(id: string): Promise<void>
  /** Ends all sessions of its subject. Only for an id that `use` has found. */
  endAll(id: string): Promise<void>
  /** The open sessions of a subject, SESSIONS_PER_SUBJECT_MAX at most, last used first. */
  list(subject: SessionSubject): Promise<readonly ListedSession[]>
  /** @param listedId of a list of the subject; of one that has ended meanwhile, nothing happens */
  endListed(subject: SessionSubject, listedId: string): Promise<void>
  /** What lists call a session; null = it is no id. */
  listedIdOf(id: string): string | null
}
