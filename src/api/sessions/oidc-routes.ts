import type { IncomingMessage } from 'node:http'
import { type RequestHandler, type Response, Router } from 'express'
import { AttemptLimit } from '../../domain/access/attempt-limit.ts'
import type { Actor } from '../../domain/access/audit-record.ts'
import { type NamedUser, SESSION_MAX_MS } from '../../domain/access/session.ts'
import type { LoginProvider } from '../../ports/access/login-provider.ts'
import type { Admission, UserAuthorizer, Visit } from '../../ports/access/user-verifier.ts'
import { answerError, answerNotFound, answerRetryLater } from '../answers.ts'
import { withAudit } from '../audit-trail.ts'
import { type BegunLogin, begunCookie, begunLoginOf, sessionCookie } from './session-cookie.ts'
import { LOGINS, type SessionRouteParts } from './session-routes.ts'

const PATH = '/api/login/oidc'
/** Where the browser goes when it is logged in. */
const HOME = '/'
const TEAM_CHARACTERS_MAX = 63

/** Logins at an identity provider, and who says what these users may do. */
export interface OidcLogin {
  readonly provider: LoginProvider
  readonly authorizer: UserAuthorizer
}

export interface OidcRouteParts extends Pick<
  SessionRouteParts,
  'sessions' | 'auditLog' | 'clock' | 'logger'
> {
  /** None when absent. */
  readonly oidc?: OidcLogin
}

type Parts = OidcRouteParts & { readonly oidc: OidcLogin }

/** For browsers, and before authentication. Without a provider both are a 404. */
export function createOidcRoutes(parts: OidcRouteParts): Router {
  const router = Router({ strict: true, caseSensitive: true })
  const { oidc } = parts
  const absent: RequestHandler = (_request, response) => answerNotFound(response)
  router.get(PATH, oidc === undefined ? absent : begin(oidc))
  router.get(`${PATH}/callback`, oidc === undefined ? absent : finish({ ...parts, oidc }))
  return router
}

function begin({ provider }: OidcLogin): RequestHandler {
  return async (request, response) => {
    const team = queryOf(request).get('team')
    if (team !== null && (team === '' || team.length > TEAM_CHARACTERS_MAX)) return answerNotFound(response)
    const begun = await provider.begin()
    if (begun === null) return answerAway(response)
    redirect(response, begun.url, [begunCookie(request, { ...begun.pending, team })])
  }
}

function finish(parts: Parts): RequestHandler {
  const refusals = new AttemptLimit(LOGINS)
  return async (request, response) => {
    const address = request.socket.remoteAddress ?? ''
    const waitMs = refusals.take(address, parts.clock.monotonicMs())
    if (waitMs > 0) {
      return answerRetryLater(response, 429, 'Too many logins, try again later', Math.ceil(waitMs / 1_000))
    }
    const reason = await finishFrom({ request, response }, parts, begunLoginOf(request))
    if (reason === null) return refusals.giveBack(address)
    // The reason is for whoever sets this up: without it, a wrong claim looks like a wrong password.
    parts.logger.info('Login refused', { status: response.statusCode, address, reason })
  }
}

/** Answers. @returns why the login was refused; null = it was not */
async function finishFrom(
  { request, response }: { readonly request: IncomingMessage; readonly response: Response },
  parts: Parts,
  begun: BegunLogin | null,
): Promise<string | null> {
  if (begun === null) return refuse(response, 401, 'it did not begin in this browser, or took too long')
  const { provider, authorizer } = parts.oidc
  const end = await provider.finish(queryOf(request).toString(), begun)
  if (end.kind === 'unavailable') return answerAway(response)
  if (end.kind === 'refused') return refuse(response, 401, end.reason)
  const visit = { team: begun.team, address: request.socket.remoteAddress ?? null }
  const admission = await authorizer.admitUser(end.user, visit)
  if (admission.kind !== 'admitted') return refuseUser(response, admission)
  const id = await openSession(parts, end.user, { ...visit, team: admission.principal.team })
  redirect(response, HOME, [sessionCookie(request, id, SESSION_MAX_MS), begunCookie(request, null)])
  return null
}

function refuseUser(response: Response, admission: Exclude<Admission, { kind: 'admitted' }>): string | null {
  switch (admission.kind) {
    case 'unavailable':
    case 'too_many':
      return answerAway(response)
    case 'team_needed':
      return refuse(response, 400, 'name the team, as in /api/login/oidc?team=shop')
    case 'no_team':
    case 'unknown':
      return refuse(response, 403, 'you have no role in this team')
  }
}

async function openSession(
  { auditLog, sessions }: Parts,
  user: NamedUser,
  { team, address }: Visit & { readonly team: string },
): Promise<string> {
  const { username: name } = user
  const actor: Actor = { kind: 'user', name, via: 'dashboard', address }
  const { id } = await withAudit(
    auditLog,
    { team, actor },
    {
      ...{ action: 'login', resource: { kind: 'session', id: null, name: null }, before: null },
      change: () =>
        sessions.open({
          ...{ subject: { kind: 'user', team: null, name }, credential: { kind: 'user', user } },
          openedFor: team,
        }),
      endOf: () => ({ after: null }),
    },
  )
  return id
}

function queryOf({ url = '' }: IncomingMessage): URLSearchParams {
  const question = url.indexOf('?')
  return new URLSearchParams(question === -1 ? '' : url.slice(question))
}

function redirect(response: Response, to: string, cookies: readonly string[]): void {
  response.writeHead(303, { Location: to, 'Set-Cookie': [...cookies], 'Cache-Control': 'no-store' }).end()
}

function refuse(response: Response, status: number, reason: string): string {
  answerError(response, status, `The login was refused: ${reason}`)
  return reason
}

function answerAway(response: Response): null {
  answerRetryLater(response, 503, 'The login cannot be checked now, try again')
  return null
}
