import type { RequestListener } from 'node:http'
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express'
import type { Logger } from '../ports/runtime.ts'
import type { TokenVerifier } from '../ports/settings.ts'
import { answerError, answerFault, answerNotFound } from './answers.ts'
import { createAuthenticator, type Authenticator } from './authentication.ts'
import { createPushRoute, type PushRouteParts } from './push-route.ts'
import type { Refusal, Refuser } from './refuser.ts'
import { createBodyReader } from './request-body.ts'
import { createContractRoutes } from './routes/contract.ts'
import { createCronRoutes, type CronRouteParts } from './routes/crons.ts'
import { createJobRoutes, type JobRouteParts } from './routes/jobs.ts'
import { createQueueRoutes, type QueueRouteParts } from './routes/queues.ts'
import { createTeamRoutes, type TeamRouteParts } from './routes/team.ts'

export interface ApiParts extends Omit<
  PushRouteParts & JobRouteParts & QueueRouteParts & CronRouteParts & TeamRouteParts,
  'authenticator' | 'bodies'
> {
  readonly tokens: TokenVerifier
  /** Bytes of bodies that are read or wait for the store. */
  readonly intakeBytesMax?: number
  /** Answers what is not below `/api/` (the echo target, the dashboard); without it that is a 404. */
  readonly fallback?: RequestListener
}

/** The HTTP API as a request listener. Push goes past express. */
export function createApi(parts: ApiParts): RequestListener {
  const bodies = createBodyReader(parts.clock, parts.intakeBytesMax)
  const shared = { ...parts, bodies, authenticator: createAuthenticator(parts.tokens, bodies) }
  const push = createPushRoute(shared)
  const app = createApp(shared, push)
  const rest = parts.fallback ?? notFound(bodies)
  return (request, response) => {
    const url = request.url ?? ''
    try {
      if (url === '/api/jobs' && request.method === 'POST') return push(request, response)
      const target = originForm(url)
      if (target === null) return bodies.hangUp({ request, response }, BAD_TARGET)
      request.url = target
      if (isOurs(target)) app(request, response)
      else rest(request, response)
    } catch (fault) {
      answerFault(request, response, fault, parts.logger)
    }
  }
}

const BAD_TARGET: Refusal = { status: 400, error: 'The request target is not valid' }

/** A target as every route knows it: the absolute form without its origin. null for what is none (RFC 9112 §3.2). */
function originForm(target: string): string | null {
  if (target.startsWith('/') || target === '*') return target
  const url = /^https?:/i.test(target) ? URL.parse(target) : null
  return url === null ? null : url.pathname + url.search
}

/** Below `/api`, or the server as a whole. */
function isOurs(target: string): boolean {
  return /^(?:\*|\/api(?:[/?]|$))/.test(target)
}

/** Nobody who gets this has shown a token: the connection ends. */
function notFound(refuser: Refuser): RequestListener {
  return (request, response) => refuser.hangUp({ request, response }, { status: 404, error: 'Not found' })
}

function createApp(
  parts: ApiParts & Pick<PushRouteParts, 'authenticator' | 'bodies'>,
  push: RequestListener,
): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', false)
  app.enable('strict routing')
  app.enable('case sensitive routing')
  app.use(authenticated(parts.authenticator))
  app.use(createJobRoutes(parts, push))
  app.use(createQueueRoutes(parts))
  app.use(createCronRoutes(parts))
  app.use(createTeamRoutes(parts))
  app.use(createContractRoutes())
  app.use((_request, response) => answerNotFound(response))
  app.use(faultHandler(parts.logger))
  return app
}

function authenticated(authenticator: Authenticator): RequestHandler {
  return (request, response, next) => {
    const team = authenticator.teamOf({ request, response })
    if (team === null) return
    response.locals['team'] = team
    next()
  }
}

/** Express wants four parameters to know an error handler. */
function faultHandler(logger: Logger): ErrorRequestHandler {
  return (fault: unknown, request, response, _next) => {
    // Express's own refusal of a path with broken percent-encoding.
    if (fault instanceof URIError) answerError(response, 400, 'The path is not valid percent-encoding')
    else answerFault(request, response, fault, logger)
  }
}
