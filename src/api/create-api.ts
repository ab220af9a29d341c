import type { RequestListener } from 'node:http'
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express'
import type { Logger } from '../ports/runtime.ts'
import type { Principal } from '../domain/access/principal.ts'
import type { TokenRates } from '../ports/access/token-rates.ts'
import type { UserVerifier } from '../ports/access/user-verifier.ts'
import type { TokenVerifier } from '../ports/settings.ts'
import { createMeRoutes } from './access/me-routes.ts'
import { createQueueGuard } from './access/queue-guard.ts'
import { createSigningSecretRoutes, type SigningSecretRouteParts } from './access/signing-secret-routes.ts'
import { createTokenRoutes, type TokenRouteParts } from './access/token-routes.ts'
import { answerError, answerFault, answerNotFound } from './answers.ts'
import { Authenticator } from './authenticator.ts'
import { BodyReader } from './body-reader.ts'
import { createChangeTurns } from './bounds/change-turns.ts'
import { type AddressOf, createAddressOf } from './bounds/client-addresses.ts'
import { Refusals } from './bounds/refusals.ts'
import { createDashboard, type DashboardParts } from './dashboard/dashboard.ts'
import { createEventRoutes, type EventRouteParts } from './events/event-routes.ts'
import { type Rejection, RequestRejector } from './request-rejector.ts'
import { type AlertRouteParts, createAlertRoutes } from './routes/alerts.ts'
import { type AuditRouteParts, createAuditRoutes } from './routes/audit.ts'
import { type BulkRouteParts, createBulkRoutes } from './routes/bulk.ts'
import { createContractRoutes } from './routes/contract.ts'
import { createCronRoutes, type CronRouteParts } from './routes/crons.ts'
import { createIssueRoutes, type IssueRouteParts } from './routes/issues/issue-routes.ts'
import { createJobRoutes, type HotRoutes, type JobRouteParts } from './routes/jobs.ts'
import { createNotificationRoutes, type NotificationRouteParts } from './notifications/notification-routes.ts'
import { createBatchRoute } from './routes/push-batch.ts'
import { createPushRoute, type PushRouteParts } from './routes/push.ts'
import { createQueueRoutes, type QueueRouteParts } from './routes/queues.ts'
import { createStatisticsRoutes, type StatisticsRouteParts } from './routes/statistics.ts'
import { createTeamRoutes, type TeamRouteParts } from './routes/team.ts'
import { createTestClockRoutes, type TestClockRouteParts } from './routes/test-clock.ts'
import { createWindowRoutes, type WindowRouteParts } from './routes/windows/windows.ts'
import { createOidcRoutes, type OidcRouteParts } from './sessions/oidc-routes.ts'
import { SessionGate } from './sessions/session-gate.ts'
import { createSessionListRoutes } from './sessions/session-list-routes.ts'
import { createLoginRoute, createSessionRoutes, type SessionRouteParts } from './sessions/session-routes.ts'
import { createStatusRoutes, type StatusRouteParts } from './status/status-route.ts'
import { StallDetector } from './stall-detector.ts'

type RouteParts = PushRouteParts &
  OidcRouteParts &
  SessionRouteParts &
  JobRouteParts &
  QueueRouteParts &
  CronRouteParts &
  AlertRouteParts &
  IssueRouteParts &
  AuditRouteParts &
  BulkRouteParts &
  EventRouteParts &
  TeamRouteParts &
  TokenRouteParts &
  SigningSecretRouteParts &
  WindowRouteParts &
  NotificationRouteParts &
  StatusRouteParts &
  TestClockRouteParts &
  StatisticsRouteParts & { readonly addressOf: AddressOf }

export interface ApiParts extends Omit<
  RouteParts,
  'authenticator' | 'bodies' | 'rejector' | 'addressOf' | 'refusals'
> {
  readonly tokens: TokenVerifier
  readonly tokenRates: TokenRates
  /** Verifies users who come with a token that is not ours; absent = there are none. */
  readonly users?: UserVerifier
  /** Bound of all bodies that are being read or wait for the job store. */
  readonly intakeBytesMax?: number
  /** CIDR blocks of the proxies that are believed where a request came from; none when absent. */
  readonly trustedProxies?: readonly string[]
  /** Prefix under which the API is reached, such as `/punctual`, if requests still have it here; absent = none. */
  readonly basePath?: string
  /** Absent = paths outside `/api/` are a 404. */
  readonly dashboard?: DashboardParts
  /** Answers paths that are neither the API's nor the dashboard's, such as the echo target's, and leaves others to `next`. */
  readonly aside?: (next: RequestListener) => RequestListener
}

const BAD_TARGET: Rejection = { status: 400, error: 'The request target is not valid' }
const NOT_FOUND: Rejection = { status: 404, error: 'Not found' }

/** The HTTP API as a request listener. Pushes bypass express. */
export function createApi(parts: ApiParts): RequestListener {
  const stalls = new StallDetector(parts.clock)
  const rejector = new RequestRejector(stalls)
  const bodies = new BodyReader({ stalls, rejector, clock: parts.clock, bytesMax: parts.intakeBytesMax })
  const addressOf = createAddressOf(parts.trustedProxies ?? [])
  const sessions = new SessionGate(parts.sessions)
  const shared = {
    ...parts,
    bodies,
    rejector,
    addressOf,
    refusals: new Refusals(parts),
    authenticator: new Authenticator({ ...parts, addressOf, rejector, sessions }),
  }
  const hot = { push: createPushRoute(shared), batch: createBatchRoute(shared) }
  const app = createApp(shared, hot)
  const outside = createOutside(parts, rejector)
  const withoutBase = createBaseRemoval(parts.basePath ?? '')
  return (request, response) => {
    const given = request.url ?? ''
    const url = (request.url = withoutBase(given))
    try {
      if (request.method === 'POST') {
        if (url === '/api/jobs') return hot.push(request, response)
        if (url === '/api/jobs/batch') return hot.batch(request, response)
      }
      const whole = originForm(given)
      if (whole === null) return rejector.rejectAndClose({ request, response }, BAD_TARGET)
      // Of an absolute target, the base path stands behind the origin.
      const target = (request.url = withoutBase(whole))
      if (isOurs(target)) app(request, response)
      else outside(request, response)
    } catch (fault) {
      answerFault(request, response, fault, parts.logger)
    }
  }
}

/** Answers what is not the API's. */
function createOutside({ dashboard, aside }: ApiParts, rejector: RequestRejector): RequestListener {
  const pages: RequestListener =
    dashboard === undefined
      ? // Without a token, no client keeps its connection.
        (request, response) => rejector.rejectAndClose({ request, response }, NOT_FOUND)
      : createDashboard(dashboard, rejector)
  return aside?.(pages) ?? pages
}

/** Some proxies take the base path away from what they pass on, others leave it: both are answered alike. */
function createBaseRemoval(basePath: string): (url: string) => string {
  if (basePath === '') return (url) => url
  const isBelow = (url: string): boolean => {
    const next = url[basePath.length]
    return url.startsWith(basePath) && (next === undefined || next === '/' || next === '?')
  }
  return (url) => {
    if (!isBelow(url)) return url
    const rest = url.slice(basePath.length)
    return rest.startsWith('/') ? rest : `/${rest}`
  }
}

/** Strips the origin of an absolute target; null when the target has no valid form (RFC 9112 §3.2). */
function originForm(target: string): string | null {
  if (target.startsWith('/') || target === '*') return target
  const url = /^https?:/i.test(target) ? URL.parse(target) : null
  return url === null ? null : url.pathname + url.search
}

/** Below `/api`, or `*`, which means the whole server. */
function isOurs(target: string): boolean {
  return /^(?:\*|\/api(?:[/?]|$))/.test(target)
}

function createApp(parts: RouteParts, hot: HotRoutes): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', false)
  app.enable('strict routing')
  app.enable('case sensitive routing')
  app.use(createSessionRoutes(parts))
  app.use(createOidcRoutes(parts))
  app.use(authenticated(parts))
  app.use(createChangeTurns(parts.clock))
  app.use(createQueueGuard(parts))
  app.use(createJobRoutes(parts, hot))
  app.use(createBulkRoutes(parts))
  app.use(createQueueRoutes(parts))
  app.use(createCronRoutes(parts))
  app.use(createAlertRoutes(parts))
  app.use(createIssueRoutes(parts))
  app.use(createAuditRoutes(parts))
  app.use(createTeamRoutes(parts))
  app.use(createStatisticsRoutes(parts))
  app.use(createStatusRoutes(parts))
  app.use(createWindowRoutes(parts))
  app.use(createNotificationRoutes(parts))
  app.use(createMeRoutes())
  app.use(createEventRoutes(parts))
  app.use(createTokenRoutes(parts))
  app.use(createSigningSecretRoutes(parts))
  app.use(createTestClockRoutes(parts))
  app.use(createContractRoutes())
  app.use(createSessionListRoutes(parts))
  app.use(createLoginRoute(parts))
  app.use((_request, response) => answerNotFound(response))
  app.use(faultHandler(parts.logger))
  return app
}

function authenticated({
  authenticator,
  addressOf,
  gate,
}: Pick<RouteParts, 'authenticator' | 'addressOf' | 'gate'>): RequestHandler {
  return (request, response, next) => {
    const goOn = (principal: Principal | null): void => {
      if (principal === null) return
      response.locals['principal'] = principal
      response.locals['address'] = addressOf(request)
      response.locals['gate'] = gate
      next()
    }
    const found = authenticator.principalOf({ request, response })
    if (found instanceof Promise) found.then(goOn, next)
    else goOn(found)
  }
}

/** Express tells an error handler by its four parameters. */
function faultHandler(logger: Logger): ErrorRequestHandler {
  return (fault: unknown, request, response, _next) => {
    // Thrown by express for a path with broken percent-encoding.
    if (fault instanceof URIError) answerError(response, 400, 'The path is not valid percent-encoding')
    else answerFault(request, response, fault, logger)
  }
}
