/** The users of a fake API server, and what they may do: its TokenReviews and SubjectAccessReviews. */
import type { Json } from './fake-api-patches.ts'
import type { Route } from './fake-api-routes.ts'

export interface FakeUser {
  readonly username: string
  readonly groups?: readonly string[]
  readonly uid?: string
  readonly extra?: Readonly<Record<string, readonly string[]>>
  /** That its token is for; the API server's own when absent, null where an authenticator knows none. */
  readonly audiences?: readonly string[] | null
}

export interface FakeReviews {
  /** By token. */
  readonly users: Map<string, FakeUser>
  /** `<username or group> <namespace> <verb> <resource>/<subresource>` */
  readonly grants: Set<string>
}

const TOKENS = '/apis/authentication.k8s.io/v1/tokenreviews'
const ACCESS = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
const OWN_AUDIENCE = ['https://kubernetes.default.svc']

export function isReview({ collection }: Route): boolean {
  return collection === TOKENS || collection === ACCESS
}

/** The review with its status. */
export function answerReview({ users, grants }: FakeReviews, { collection }: Route, review: Json): Json {
  const spec = review.spec as Json
  const status = collection === TOKENS ? tokenStatus(users, spec) : accessStatus(grants, spec)
  return { ...review, status }
}

function tokenStatus(users: FakeReviews['users'], spec: Json): Json {
  const user = users.get(String(spec.token))
  const asked = (spec.audiences ?? OWN_AUDIENCE) as readonly string[]
  if (user?.audiences === null) return { authenticated: true, user: { username: user.username } }
  const audiences = asked.filter((one) => (user?.audiences ?? OWN_AUDIENCE).includes(one))
  if (user === undefined || audiences.length === 0) return { user: {}, error: 'invalid bearer token' }
  const { audiences: _audiences, ...known } = user
  return { authenticated: true, user: known, audiences }
}

function accessStatus(grants: FakeReviews['grants'], spec: Json): Json {
  const { namespace, verb, group, resource, subresource } = spec.resourceAttributes as Record<string, string>
  const subjects = [String(spec.user), ...((spec.groups ?? []) as readonly string[])]
  const what = `${namespace} ${verb} ${resource}/${subresource}`
  return { allowed: group === 'punctual.dev' && subjects.some((one) => grants.has(`${one} ${what}`)) }
}
