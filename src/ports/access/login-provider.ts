import type { NamedUser } from '../../domain/access/session.ts'

/** Kept in the browser between the way to the provider and the way back. */
export interface PendingLogin {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** How a login ended: who it was, or why it was refused, in words without a secret. */
export type LoginEnd =
  | { readonly kind: 'done'; readonly user: NamedUser }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unavailable' }

/** An identity provider that people log in at with a browser. Never throws. */
export interface LoginProvider {
  /** Begins a login: the URL to send the browser to; null while the provider is away. */
  begin(): Promise<{ readonly url: string; readonly pending: PendingLogin } | null>
  /** @param search the query that the browser came back with */
  finish(search: string, pending: PendingLogin): Promise<LoginEnd>
}
