/** The login that a code gives. */
export interface LoginGrant {
  readonly token: string
  /** The team of whoever made the code, for which a user of several logs in. */
  readonly team: string
}

/** Codes that log in once, for links. Only their hashes are stored. Throws StoreUnavailableError. */
export interface LoginCodes {
  create(grant: LoginGrant): Promise<{ readonly code: string; readonly endMs: number }>
  /** Looks a code up; null = there is no such code, it has been used, or it is too old. */
  find(code: string): Promise<LoginGrant | null>
  /** Uses it up. @returns whether it was there to be used */
  take(code: string): Promise<boolean>
}
