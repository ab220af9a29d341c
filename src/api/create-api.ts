import type { RequestListener } from 'node:http'
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express'
import type { Logger } from '../ports/logger.ts'
import type { TokenVerifier } from '../ports/team-settings.ts'
import { answerError, answerFault, answerNotFound } from './answers.ts'
import { authenticate } from './authentication.ts'
import { createPushRoute, type PushRouteParts } from './push-route.ts'
import { discardBody } from './request-body.ts'
import { createContractRoutes } from './routes/contract.ts'
import { createCronRoutes, type CronRouteParts } from './routes/crons.ts'
import { createJobRoutes, type JobRouteParts } from './routes/jobs.ts'
import { createQueueRoutes, type QueueRouteParts } from './routes/queues.ts'

export interface ApiParts extends PushRouteParts, JobRouteParts, QueueRouteParts, CronRouteParts {
  /** Answers what is not below `/api/` (the echo target, the dashboard); without it that is a 404. */
  readonly fallback?: RequestListener
}

/** The HTTP API as a request listener. Push goes past express. */
export function createApi(parts: ApiParts): RequestListener {
  const push = createPushRoute(parts)
  const app = createApp(parts, push)
  const rest = parts.fallback ?? app
  return (request, response) => {
    const url = request.url ?? ''
    try {
      if (url === '/api/jobs' && request.method === 'POST') push(request, response)
      else if (isOurs(url)) app(request, response)
      else rest(request, response)
    } catch (fault) {
      answerFault(request, response, fault, parts.logger)
    }
  }
}

/** Below `/api`, or a target that is no path at all (absolute form, `*`). */
function isOurs(url: string): boolean {
  return /^(?:[^/]|\/api(?:[/?]|$)|$)/.test(url)
}

function createApp(parts: ApiParts, push: RequestListener): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', false)
  app.enable('strict routing')
  app.enable('case sensitive routing')
  app.use('/api', authenticated(parts.tokens))
  app.use(createJobRoutes(parts, push))
  app.use(createQueueRoutes(parts))
  app.use(createCronRoutes(parts))
  app.use(createContractRoutes())
  app.use((_request, response) => answerNotFound(response))
  app.use(faultHandler(parts.logger))
  return app
}

function authenticated(tokens: TokenVerifier): RequestHandler {
  return (request, response, next) => {
    const team = authenticate(request, response, tokens)
    if (team === null) {
      discardBody(request)
      return
    }
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
