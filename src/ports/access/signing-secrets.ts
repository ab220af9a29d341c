import type { SigningSecret } from '../../domain/access/signing-secret.ts'

/** The signing secrets of teams. Every method throws EditRefusedError and ResourceApiError. */
export interface SigningSecretStore {
  /** Newest first, at most two. */
  list(team: string): Promise<readonly SigningSecret[]>
  /**
   * Makes a Secret of this name and lists it first. Answered once calls are signed with it, or after 2 s. Refuses a third.
   * @param given.text its value
   */
  create(team: string, given: { readonly name: string; readonly text: string }): Promise<SigningSecret>
  /** Calls are no longer signed with it; its Secret is removed if `create` made it. */
  remove(team: string, id: string): Promise<'removed' | 'not_found'>
}
