import type { Permissions, Role } from './permission.ts'
import type { TokenRate, TokenTerms } from './token-terms.ts'

/** Who sends a request, and what it may do in one team. Made once for a token, not for each request. */
export interface Principal {
  readonly team: string
  readonly kind: 'token' | 'user'
  /** The name of the token, or of the user as its identity provider or Kubernetes knows it. */
  readonly subject: string
  readonly permissions: Permissions
  /** The names of the queues it is limited to; null = all. */
  readonly queues: ReadonlySet<string> | null
  /** Only a token has terms. */
  readonly terms?: TokenTerms
  /** The rate limits that each of its requests counts for, outermost first; none when absent. */
  readonly rates?: readonly TokenRate[]
  /** Only a user has roles. */
  readonly roles?: readonly Role[]
}

/** Whether it may see and use the queue of this name. */
export function mayUseQueue({ queues }: Principal, name: string): boolean {
  return queues === null || queues.has(name)
}
