import type { IncomingMessage } from 'node:http'
import { type RequestHandler, type Response, Router } from 'express'
import type { Actor } from '../../domain/access/audit-record.ts'
import { type NamedUser, SESSION_MAX_MS, type SessionOrigin } from '../../domain/access/session.ts'
import { createCountedLog } from '../../domain/counted-log.ts'
import { addressBlock } from '../../domain/net/client-address.ts'
import { FairPlaces } from '../../domain/shares/fair-places.ts'
import type { LoginProvider } from '../../ports/access/login-provider.ts'
import type { Admission, UserAuthorizer } from '../../ports/access/user-verifier.ts'
import { answerError, answerNotFound, answerRetryLater } from '../answers.ts'
import { withAudit } from '../audit-trail.ts'
import type { CursorBox } from '../access/sealed-cursors.ts'
import { type BegunLogin, BegunLogins } from './begun-logins.ts'
import { sessionCookie } from './session-cookie.ts'
import { endFormer, originOf, type SessionRouteParts } from './session-routes.ts'

const PATH = '/api/login/oidc'
const TEAM_CHARACTERS_MAX = 63
/** Logins about which the provider is being asked, at one API process. */
const LOGINS_ASKED_MAX = 32
/** Share of these logins that one address may take while no other wants them. */
const ADDRESS_SHARE = 0.75
const LATE = 'it began in another browser, took too long, or was already used'

/** Logins at an identity provider, and who says what these users may do. */
export interface OidcLogin {
  /** Name by which people know the provider: the host of its URL. */
  readonly name: string
  readonly provider: LoginProvider
  readonly authorizer: UserAuthorizer
}

export interface OidcRouteParts extends Pick<
  SessionRouteParts,
  'sessions' | 'auditLog' | 'clock' | 'logger' | 'addressOf' | 'refusals'
> {
  /** Seals logins that have begun, in the same way at every API of an installation. */
  readonly loginBox: Pick<CursorBox, 'seal' | 'open'>
  /** Absent = there is no provider. */
  readonly oidc?: OidcLogin
  /** Prefix under which browsers reach the dashboard; absent = none. */
  readonly basePath?: string
  /** If it is built, it tells the browser why a login was refused. */
  readonly dashboard?: { readonly built: object | null }
}

/** Why a login did not succeed, as the dashboard knows it. */
type Trouble = 'late' | 'refused' | 'team' | 'role' | 'away'

type Parts = OidcRouteParts & { readonly oidc: OidcLogin; readonly begun: BegunLogins }

/**
 * Routes for browsers that are not logged in yet, so they come before authentication. Without a provider both are a
 * 404.
 */
export function createOidcRoutes(parts: OidcRouteParts): Router {
  const router = Router({ strict: true, caseSensitive: true })
  const { oidc } = parts
  const absent: RequestHandler = (_request, response) => answerNotFound(response)
  const begun = new BegunLogins(parts.loginBox, parts.clock)
  router.get(PATH, oidc === undefined ? absent : begin({ ...parts, oidc, begun }))
  router.get(`${PATH}/callback`, oidc === undefined ? absent : finish({ ...parts, oidc, begun }))
  return router
}

function begin(parts: Parts): RequestHandler {
  return async (request, response) => {
    const team = queryOf(request).get('team')
    if (team !== null && (team === '' || team.length > TEAM_CHARACTERS_MAX)) return answerNotFound(response)
    const begun = await parts.oidc.provider.begin()
    if (begun === null) return void answerAway({ request, response }, parts)
    redirect(response, begun.url, [parts.begun.cookie(request, { ...begun.pending, team })])
  }
}

/** Nobody is charged for who comes back without a login that began here: anybody can send that in anybody's name. */
function finish(parts: Parts): RequestHandler {
  const { clock, logger, refusals, addressOf } = parts
  const asking = new FairPlaces({ places: LOGINS_ASKED_MAX, shares: { address: ADDRESS_SHARE } })
  const sayLate = createCountedLog(
    () => clock.monotonicMs(),
    (count) => logger.info('Login refused', { reason: LATE, count }),
  )
  return async (request, response) => {
    const visitor = { request, response }
    const begun = parts.begun.returning(request, queryOf(request).get('state'))
    if (begun === null) {
      sayLate()
      return void refuse(visitor, parts, { status: 401, reason: LATE, trouble: 'late' })
    }
    const address = addressOf(request)
    const place = asking.take({ address: addressBlock(address) })
    if (place.kind !== 'granted') return void answerAway(visitor, parts)
    try {
      const reason = await finishFrom(visitor, parts, begun)
      // The reason is for whoever sets this up: without it, a wrong claim looks like a wrong password.
      if (reason !== null) refusals.charge(address, { reason })
    } finally {
      place.leave()
    }
  }
}

/** Answers. @returns why the login was refused; null = it was not */
async function finishFrom(visitor: Visitor, parts: Parts, begun: BegunLogin): Promise<string | null> {
  const { request, response } = visitor
  const { provider, authorizer } = parts.oidc
  const end = await provider.finish(queryOf(request).toString(), begun)
  if (end.kind === 'unavailable') return answerAway(visitor, parts)
  parts.begun.end(begun)
  if (end.kind === 'refused') {
    return refuse(visitor, parts, { status: 401, reason: end.reason, trouble: 'refused' })
  }
  const visit = { team: begun.team, address: parts.addressOf(request) }
  const admission = await authorizer.admitUser(end.user, visit)
  if (admission.kind !== 'admitted') return refuseUser(visitor, parts, admission)
  const origin = originOf(request, parts)
  const id = await openSession(parts, end.user, { team: admission.principal.team, origin })
  await endFormer({ request }, parts)
  const cookies = [sessionCookie(request, id, SESSION_MAX_MS), parts.begun.cookie(request, null)]
  redirect(response, dashboardUrl(parts), cookies)
  return null
}

function refuseUser(
  visitor: Visitor,
  parts: Parts,
  admission: Exclude<Admission, { kind: 'admitted' }>,
): string | null {
  switch (admission.kind) {
    case 'unavailable':
    case 'too_many':
      return answerAway(visitor, parts)
    case 'team_needed': {
      const reason = 'name the team, as in /api/login/oidc?team=shop'
      return refuse(visitor, parts, { status: 400, reason, trouble: 'team' })
    }
    case 'no_team':
    case 'unknown':
      return refuse(visitor, parts, { status: 403, reason: 'you have no role in this team', trouble: 'role' })
  }
}

async function openSession(
  { auditLog, sessions }: Parts,
  user: NamedUser,
  { team, origin }: { readonly team: string; readonly origin: SessionOrigin },
): Promise<string> {
  const { username: name } = user
  const actor: Actor = { kind: 'user', name, via: 'dashboard', address: origin.address }
  const { id } = await withAudit(
    auditLog,
    { team, actor },
    {
      action: 'login',
      resource: { kind: 'session', id: null, name: null },
      before: null,
      change: () =>
        sessions.open(
          {
            subject: { kind: 'user', team: null, name },
            credential: { kind: 'user', user },
            openedFor: team,
          },
          origin,
        ),
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

interface Visitor {
  readonly request: IncomingMessage
  readonly response: Response
}

interface Refusal {
  readonly status: number
  readonly reason: string
  readonly trouble: Trouble
}

/** A person in front of a browser, who can do nothing with JSON. */
function isPageWanted({ headers }: IncomingMessage, { dashboard }: OidcRouteParts): boolean {
  return (dashboard?.built ?? null) !== null && (headers.accept ?? '').includes('text/html')
}

function dashboardUrl({ basePath = '' }: OidcRouteParts): string {
  return `${basePath}/`
}

function toPage(response: Response, parts: OidcRouteParts, trouble: Trouble): void {
  redirect(response, `${dashboardUrl(parts)}?login=${trouble}`, [])
}

function refuse({ request, response }: Visitor, parts: Parts, { status, reason, trouble }: Refusal): string {
  if (isPageWanted(request, parts)) toPage(response, parts, trouble)
  else answerError(response, status, `The login was refused: ${reason}`)
  return reason
}

function answerAway({ request, response }: Visitor, parts: Parts): null {
  if (isPageWanted(request, parts)) toPage(response, parts, 'away')
  else answerRetryLater(response, 503, 'The login cannot be checked now, try again')
  return null
}
