import type { Session } from '../../domain/access/session.ts'

/**
 * Sessions of browsers. An id is a secret: it opens what the session stands for, and only its hash is stored. Throws
 * StoreUnavailableError.
 */
export interface SessionStore {
  open(
    login: Pick<Session, 'subject' | 'credential' | 'openedFor'>,
  ): Promise<{ readonly id: string; readonly session: Session }>
  /** Counts as a use. null = there is no such session, or it has ended. */
  use(id: string): Promise<Session | null>
  end(id: string): Promise<void>
  /** Ends all sessions of its subject. Only for an id that `use` has found. */
  endAll(id: string): Promise<void>
}
