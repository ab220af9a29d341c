import { PERMISSIONS, type Permission, type Permissions } from '../../domain/access/permission.ts'
import { PERMISSION_RULES } from '../../domain/access/rbac.ts'
import { ResourceApiError } from '../../domain/errors.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { ApiRequest, Transport } from '../client/transport.ts'
import { createNamespaceReader } from '../resources/namespace-reader.ts'

/** A client waits this long for all questions about its request, tries included. */
const REVIEW_TIMEOUT_MS = 5_000
const ANSWER_BYTES_MAX = 1024 * 1024
const TOKEN_REVIEWS = '/apis/authentication.k8s.io/v1/tokenreviews'
const ACCESS_REVIEWS = '/apis/authorization.k8s.io/v1/subjectaccessreviews'

/** A user as authorizers know one. */
export interface ReviewedUser {
  readonly username: string
  readonly uid?: string | undefined
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined
}

export interface NamespaceRights {
  readonly permissions: Permissions
  /** The uid of the namespace; null = we may not read it. */
  readonly uid: string | null
}

/** The part of a TokenReview's or SubjectAccessReview's status that is read. */
interface ReviewStatus {
  readonly authenticated?: boolean
  readonly user?: Partial<ReviewedUser>
  readonly audiences?: readonly string[]
  readonly allowed?: boolean
}

/** Asks the API server who somebody is and what they may do. Throws ResourceApiError. */
export class AccessReviews {
  readonly #transport: Pick<Transport, 'request'>
  readonly #clock: Clock

  constructor(transport: Pick<Transport, 'request'>, clock: Clock) {
    this.#transport = {
      request: <T>(request: ApiRequest) => transport.request<T>({ pool: 'review', ...request }),
    }
    this.#clock = clock
  }

  /**
   * Answers who a token belongs to; null = nobody.
   * @param options.audience the token must be for it; null = for the API server's own
   * @param options.pool `doubt` for a token that anybody may have made up
   */
  async userOf(
    token: string,
    { audience, pool }: { readonly audience: string | null; readonly pool: 'review' | 'doubt' },
  ): Promise<ReviewedUser | null> {
    const spec = audience === null ? { token } : { token, audiences: [audience] }
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec }
    const { status } = await this.#review({ path: TOKEN_REVIEWS, pool, body })
    const username = status?.user?.username ?? ''
    if (status?.authenticated !== true || username === '') return null
    // An authenticator that knows no audiences names none, and then the token may be for anybody.
    if (audience !== null && !(status.audiences ?? []).includes(audience)) return null
    const { uid, groups = [], extra } = status.user ?? {}
    return { username, uid, groups, extra }
  }

  /**
   * Answers what RBAC lets the user do in a namespace, and the namespace's uid. null = there is no such namespace, or
   * the user may do nothing there.
   */
  async rightsOf(
    user: ReviewedUser,
    namespace: string,
    { isKnown }: { readonly isKnown: boolean },
  ): Promise<NamespaceRights | null> {
    const allowed = await Promise.all(
      PERMISSIONS.map(async (one) => ((await this.#mayDo(user, namespace, one)) ? [one] : [])),
    )
    const permissions = new Set(allowed.flat())
    if (permissions.size === 0) return null
    // A user who may do everything everywhere may also do it in a namespace that does not exist, so the namespace is
    // read.
    const found = await this.#timed((signal) =>
      createNamespaceReader(this.#transport, signal).read(namespace),
    )
    if (found.kind === 'missing') return null
    if (found.kind === 'unreadable' && !isKnown) {
      throw new ResourceApiError('forbidden', `namespace ${namespace} cannot be read`)
    }
    return { permissions, uid: found.kind === 'found' ? found.uid : null }
  }

  async #mayDo(user: ReviewedUser, namespace: string, permission: Permission): Promise<boolean> {
    const resourceAttributes = { namespace, group: 'punctual.dev', ...PERMISSION_RULES[permission] }
    const { username, uid, groups, extra } = user
    const spec = { user: username, uid, groups, extra, resourceAttributes }
    const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec }
    const { status } = await this.#review({ path: ACCESS_REVIEWS, pool: 'review', body })
    return status?.allowed === true
  }

  #review(review: Pick<ApiRequest, 'path' | 'pool' | 'body'>): Promise<{ readonly status?: ReviewStatus }> {
    return this.#timed((signal) =>
      this.#transport.request({ ...review, method: 'POST', signal, answerBytesMax: ANSWER_BYTES_MAX }),
    )
  }

  async #timed<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const timeout = new AbortController()
    const cancel = this.#clock.after(REVIEW_TIMEOUT_MS, () => timeout.abort())
    try {
      return await ask(timeout.signal)
    } finally {
      cancel()
    }
  }
}
