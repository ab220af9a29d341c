import type { Permissions } from './permission.ts'

/** Who sends a request, and what it may do in one team. Made once for a token, not for each request. */
export interface Principal {
  readonly team: string
  readonly kind: 'token' | 'user'
  /** The name of the token, or of the user as its identity provider or Kubernetes knows it. */
  readonly subject: string
  readonly permissions: Permissions
  /** The names of the queues it is limited to; null = all. */
  readonly queues: ReadonlySet<string> | null
}
