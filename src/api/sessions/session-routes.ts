import type { IncomingMessage, ServerResponse } from 'node:http'
import { type RequestHandler, Router } from 'express'
import { readSessionEnd } from '../../contract/requests/session-query.ts'
import { toWireLoginCode, toWireLoginOffer, toWireSession } from '../../contract/responses/session-wire.ts'
import { AttemptLimit } from '../../domain/access/attempt-limit.ts'
import type { Actor, AuditedResource } from '../../domain/access/audit-record.ts'
import { type Session, SESSION_MAX_MS, type SessionOrigin, subjectOf } from '../../domain/access/session.ts'
import { deviceOf } from '../../domain/net/user-agent.ts'
import type { AuditLog } from '../../ports/access/audit-log.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { LoginCodes } from '../../ports/access/login-codes.ts'
import type { SessionStore } from '../../ports/access/session-store.ts'
import { answerError, answerJson, answerProblem, answerRetryLater, type FlatHeaders } from '../answers.ts'
import { withAudit } from '../audit-trail.ts'
import { type Authenticator, bearerOf, CHALLENGE } from '../authenticator.ts'
import type { Exchange } from '../request-rejector.ts'
import { createTeamRouter, needsInQueues, type TeamRequest } from '../team-routes.ts'
import type { AddressOf } from '../bounds/client-addresses.ts'
import { LOGINS, type Refusals } from '../bounds/refusals.ts'
import { sessionCookie, sessionIdOf } from './session-cookie.ts'

const PATH = '/api/session'
const CODE_HEADER = 'x-punctual-code'
const USED_CODE = 'The code of this link is not valid: it was used, or is older than ten minutes'
const A_SESSION: AuditedResource = { kind: 'session', id: null, name: null }
const ALLOW: FlatHeaders = ['Allow', 'GET, HEAD, POST, DELETE']
/** A login with such an answer failed by what was sent. */
const NO_TOKEN = 'This needs a token; a session is not enough'
const REFUSALS: ReadonlySet<number> = new Set([400, 401, 403, 404])

export interface SessionRouteParts {
  readonly sessions: SessionStore
  readonly loginCodes: LoginCodes
  readonly auditLog: AuditLog
  readonly authenticator: Authenticator
  readonly addressOf: AddressOf
  readonly refusals: Refusals
  readonly clock: Clock
  readonly logger: Logger
}

/** Routes before authentication: reading a session and ending it, which need no team, and logins by a code. */
export function createSessionRoutes(parts: SessionRouteParts): Router {
  const router = Router({ strict: true, caseSensitive: true })
  router
    .route(PATH)
    .get(readSession(parts))
    .delete(endSession(parts))
    .post(chargeRefusals(parts), openByCode(parts))
    .all((_request, response) => answerError(response, 405, 'Method not allowed', ALLOW))
  // What else this path takes needs a token: the routes behind authentication have it.
  router.get(`${PATH}/code`, readCode(parts))
  return router
}

function readSession({ authenticator }: SessionRouteParts): RequestHandler {
  return async (request, response) => {
    const open = await authenticator.sessionOf({ request, response }, { isAlive: true })
    if (open !== null) answerJson(response, 200, JSON.stringify(toWireSession(open.session)))
  }
}

function endSession({ sessions, authenticator, auditLog, addressOf }: SessionRouteParts): RequestHandler {
  return async (request, response) => {
    // Whoever wants to leave may, also while nobody can say whether the token is still valid.
    const open = await authenticator.sessionOf({ request, response }, { isAlive: false })
    if (open === null) return
    const question = request.originalUrl.indexOf('?')
    const query = readSessionEnd(question === -1 ? '' : request.originalUrl.slice(question + 1))
    if (query.kind === 'invalid') return answerProblem(response, query.problem)
    const { isEverywhere } = query.value
    await withAudit(auditLog, auditedBy(open.session, addressOf(request)), {
      action: 'logout',
      resource: A_SESSION,
      before: null,
      change: () => (isEverywhere ? sessions.endAll(open.id) : sessions.end(open.id)),
      endOf: () => ({ after: isEverywhere ? { everywhere: true } : null }),
    })
    response.writeHead(204, { 'Set-Cookie': sessionCookie(request, null, 0) }).end()
  }
}

function auditedBy(
  { subject: { kind, name }, openedFor: team }: Session,
  address: string | null,
): Pick<TeamRequest, 'team' | 'actor'> {
  return { team, actor: { kind, name, via: 'dashboard', address } }
}

/** Opens a session for whoever is authenticated by a token, or makes a code that does it once. */
export function createLoginRoute(parts: SessionRouteParts): Router {
  const bySubject = new AttemptLimit(LOGINS)
  const withToken =
    (handle: (context: TeamRequest, token: string) => Promise<void>) =>
    async (context: TeamRequest): Promise<void> => {
      const { request, response, principal } = context
      const token = bearerOf(request)
      if (token === null) return answerError(response, 401, NO_TOKEN, CHALLENGE)
      const waitMs = bySubject.take(JSON.stringify(subjectOf(principal)), parts.clock.monotonicMs())
      return waitMs > 0 ? answerTooMany(response, waitMs) : handle(context, token)
    }
  return createTeamRouter({
    [PATH]: {
      POST: needsInQueues(
        null,
        withToken((context, token) => login(context, parts, token)),
      ),
    },
    [`${PATH}/code`]: {
      POST: needsInQueues(
        null,
        withToken((context, token) => makeCode(context, parts, token)),
      ),
    },
  })
}

/** Audited like a login, since whoever has the code can act as its maker. */
async function makeCode(
  context: TeamRequest,
  { loginCodes, auditLog }: SessionRouteParts,
  token: string,
): Promise<void> {
  const made = await withAudit(auditLog, context, {
    action: 'create',
    resource: A_SESSION,
    before: null,
    change: async () => toWireLoginCode(await loginCodes.create({ token, team: context.team })),
    endOf: ({ expires_at }) => ({ after: { expires_at } }),
  })
  answerJson(context.response, 201, JSON.stringify(made))
}

/**
 * A code comes in a header that no page of another origin can send. It is used up last: whoever cannot be let in now, as
 * while nobody can be asked, may come again with it.
 */
function openByCode(parts: SessionRouteParts): RequestHandler {
  return async (request, response) => {
    const code = String(request.headers[CODE_HEADER])
    const grant = await parts.loginCodes.find(code)
    if (grant === null) return refuseCode({ request, response }, parts)
    const principal = await parts.authenticator.principalOfToken({ request, response }, grant)
    if (principal === null) return
    if (!(await parts.loginCodes.take(code))) return refuseCode({ request, response }, parts)
    const actor: Actor = {
      kind: principal.kind,
      name: principal.subject,
      via: 'dashboard',
      address: parts.addressOf(request),
    }
    await login({ request, response, principal, team: principal.team, actor }, parts, grant.token)
  }
}

/** Tells for whom a code would log in, and uses nothing up. */
function readCode(parts: SessionRouteParts): RequestHandler {
  return async (request, response) => {
    const grant = await parts.loginCodes.find(String(request.headers[CODE_HEADER]))
    if (grant === null) return refuseCode({ request, response }, parts)
    const principal = await parts.authenticator.principalOfToken({ request, response }, grant)
    if (principal !== null) answerJson(response, 200, JSON.stringify(toWireLoginOffer(principal)))
  }
}

type Login = Pick<TeamRequest, 'request' | 'response' | 'principal' | 'team' | 'actor'>

async function login(context: Login, parts: SessionRouteParts, token: string): Promise<void> {
  const { principal, request, response, team } = context
  const subject = subjectOf(principal)
  const { id, session } = await withAudit(parts.auditLog, context, {
    action: 'login',
    resource: A_SESSION,
    before: null,
    change: () => {
      const login = { subject, credential: { kind: 'token', token }, openedFor: team } as const
      return parts.sessions.open(login, originOf(request, parts))
    },
    endOf: () => ({ after: null }),
  })
  await endFormer(context, parts)
  const body = JSON.stringify(toWireSession(session))
  answerJson(response, 201, body, ['Set-Cookie', sessionCookie(request, id, SESSION_MAX_MS)])
}

/** Where a login comes from. */
export function originOf(
  request: IncomingMessage,
  { addressOf }: Pick<SessionRouteParts, 'addressOf'>,
): SessionOrigin {
  return { device: deviceOf(request.headers['user-agent']), address: addressOf(request) }
}

/** A browser has one session: nobody could end the one whose cookie is overwritten. */
export async function endFormer(
  { request }: Pick<Login, 'request'>,
  { sessions }: Pick<SessionRouteParts, 'sessions'>,
): Promise<void> {
  const former = sessionIdOf(request)
  // The login has succeeded: a former session that cannot be ended now ends by itself.
  if (former !== null) await sessions.end(former).catch(() => undefined)
}

/**
 * Charges refused logins. A login with a token passes to the next route: authentication refuses and charges it there.
 */
function chargeRefusals({ refusals, addressOf }: SessionRouteParts): RequestHandler {
  return (request, response, next) => {
    if (request.headers[CODE_HEADER] !== undefined) return next()
    const address = addressOf(request)
    response.once('finish', () => {
      const { statusCode: status } = response
      if (REFUSALS.has(status)) refusals.charge(address, { status })
    })
    next('route')
  }
}

/** Refuses a code that is not valid. Beyond the bound of its address that is a 429, which a valid code never gets. */
function refuseCode({ request, response }: Exchange, { refusals, addressOf }: SessionRouteParts): void {
  const waitMs = refusals.charge(addressOf(request), { status: 401 })
  if (waitMs > 0) answerTooMany(response, waitMs)
  else answerError(response, 401, USED_CODE, CHALLENGE)
}

function answerTooMany(response: ServerResponse, waitMs: number): void {
  answerRetryLater(response, 429, 'Too many logins, try again later', Math.ceil(waitMs / 1_000))
}
