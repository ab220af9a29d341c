import type { SessionCredential } from '../../domain/access/session.ts'

/** Codes that log in once, for links. Only their hashes are stored. Throws StoreUnavailableError. */
export interface LoginCodes {
  create(credential: SessionCredential): Promise<{ readonly code: string; readonly endMs: number }>
  /** What it stands for; null = there is no such code, it has been used, or it is too old. */
  take(code: string): Promise<SessionCredential | null>
}
