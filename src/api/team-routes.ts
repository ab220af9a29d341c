import type { IncomingMessage } from 'node:http'
import { Router, type RequestHandler } from 'express'
import type { Actor } from '../domain/access/audit-record.ts'
import type { Permission } from '../domain/access/permission.ts'
import type { Principal } from '../domain/access/principal.ts'
import type { BodyResult, RequestBody } from '../contract/fields/json-body.ts'
import { BAD_CURSOR, basedCursor, type QueryResult } from '../contract/requests/list-query.ts'
import { writeList, type WrittenList } from '../contract/responses/lists/json-list.ts'
import { atOnce, type CostGate } from '../domain/shares/cost-gate.ts'
import { LIST_LIMIT_DEFAULT } from '../domain/limits.ts'
import type { Logger } from '../ports/runtime.ts'
import {
  answerError,
  answerFault,
  answerFresh,
  answerNotFound,
  answerOtherQueues,
  answerProblem,
  forbiddenText,
} from './answers.ts'
import { bearerOf } from './authenticator.ts'
import { refuseLoop } from './pushes/call-depth.ts'
import type { BodyReader, TeamExchange } from './body-reader.ts'
import { type CostlyExchange, readableBody, stepInTurn, workInTurns } from './bounds/costly-work.ts'

/** An authenticated request as a route sees it. */
export interface TeamRequest extends CostlyExchange {
  readonly principal: Principal
  /** The principal as the audit log names it. */
  readonly actor: Actor
  /** A parameter of the path; '' when it is absent. */
  readonly parameter: (name: string) => string
  /** The query string without `?`. */
  readonly search: string
}

export type TeamHandler = (context: TeamRequest) => Promise<void> | void

/** The permission that a method needs, and its handler. */
interface TeamRoute {
  /** null = any valid token will do. */
  readonly permission: Permission | null
  /** Whether the handler itself keeps to the queues of the principal. */
  readonly keepsToQueues: boolean
  readonly handle: TeamHandler
}

/** A route that a principal which is limited to queues may not use. */
export function needs(permission: Permission | null, handle: TeamHandler): TeamRoute {
  return { permission, keepsToQueues: false, handle }
}

/** A route whose handler lets nobody see or change more than `mayUseQueue` allows. */
export function needsInQueues(permission: Permission | null, handle: TeamHandler): TeamRoute {
  return { permission, keepsToQueues: true, handle }
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/**
 * Routes from path and method to a handler; a request without its permission is a 403. Other methods of a path are a 405;
 * what a handler throws is a fault.
 */
export function createTeamRouter(
  table: Readonly<Record<string, Readonly<Partial<Record<Method, TeamRoute>>>>>,
): Router {
  const router = Router({ strict: true, caseSensitive: true })
  for (const [path, handlers] of Object.entries(table)) {
    const route = router.route(path)
    for (const [method, handler] of Object.entries(handlers)) {
      route[method.toLowerCase() as Lowercase<Method>](forTeam(handler))
    }
    // Express answers HEAD by the handler of GET.
    const methods = Object.keys(handlers).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    const allow = ['Allow', methods.join(', ')]
    route.all((_request, response) => answerError(response, 405, 'Method not allowed', allow))
  }
  return router
}

function forTeam({ permission, keepsToQueues, handle }: TeamRoute): RequestHandler {
  return async (request, response) => {
    const principal = response.locals['principal'] as Principal | undefined
    // Authentication runs before every route and sets it.
    if (principal === undefined) throw new Error('a route was reached without authentication')
    if (refuseLoop(request, response)) return
    if (permission !== null && !principal.permissions.has(permission)) {
      return answerError(response, 403, forbiddenText(permission))
    }
    if (!keepsToQueues && principal.queues !== null) return answerOtherQueues(response)
    const { originalUrl } = request
    const question = originalUrl.indexOf('?')
    await handle({
      team: principal.team,
      gate: response.locals['gate'] as CostGate,
      principal,
      actor: actorOf(principal, request, response.locals['address'] as string | null),
      parameter: (name) => {
        const value = request.params[name]
        return typeof value === 'string' ? value : ''
      },
      search: question === -1 ? '' : originalUrl.slice(question + 1),
      request,
      response,
    })
  }
}

/**
 * Tells apart by which way somebody came: only a browser has a session and no token; the CLI names itself in
 * `User-Agent`.
 */
function actorOf({ kind, subject }: Principal, request: IncomingMessage, address: string | null): Actor {
  const isCli = request.headers['user-agent']?.startsWith('punctual-cli/') ?? false
  // As the authenticator chooses: a header without a token does not count.
  const via = bearerOf(request) === null ? 'dashboard' : isCli ? 'cli' : 'api'
  return { kind, name: subject, via, address }
}

/** Calls `find` with an id of the path; null when the path holds no valid id. */
export async function withId<T>(
  { parameter }: TeamRequest,
  name: string,
  find: (id: number) => Promise<T>,
): Promise<T | null> {
  const text = parameter(name)
  const id = /^(?:0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(id) ? find(id) : null
}

/** Whether there is a body, where it may be left out. */
export function hasBody({ request: { headers } }: TeamExchange): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/** Reads the body, a large one in turns with others, then calls `handle`; what it throws is answered as a fault. */
export function withBody(
  context: TeamRequest,
  { bodies, logger }: { readonly bodies: BodyReader; readonly logger: Logger },
  handle: (body: RequestBody) => Promise<void> | void,
): void {
  const { request, response } = context
  bodies.read(context, async (bytes) => {
    try {
      const body = await readableBody(context, bytes)
      if (body !== null) await handle(body)
    } catch (fault) {
      answerFault(request, response, fault, logger)
    }
  })
}

/** The value of a valid body; null once 400 or 422 has been answered. */
export function acceptedBody<T>({ response }: TeamExchange, result: BodyResult<T>): T | null {
  if (result.kind === 'valid') return result.value
  if (result.kind === 'malformed') answerError(response, 400, result.error)
  else answerProblem(response, result.problem)
  return null
}

/** Writing so many rows of most lists takes less than 2 ms. */
const FEW_ROWS = 32

/** Answers a page of a list, or 422 for its query or cursor, or 404 when `list` finds null. */
export async function answerPage<
  Query extends { readonly limit?: number; readonly isCostly?: boolean },
  Page,
  Row,
>(
  context: TeamRequest,
  query: QueryResult<Query>,
  list: (query: Query) => Promise<Page | 'bad_cursor' | null>,
  toList: (page: Page) => WrittenList<Row>,
): Promise<void> {
  const { response } = context
  if (query.kind === 'invalid') return answerProblem(response, query.problem)
  const read = async () => ({ page: await list(query.value) })
  const isLong = query.value.isCostly === true || (query.value.limit ?? 0) > LIST_LIMIT_DEFAULT
  const found = isLong ? await stepInTurn(context, read) : await read()
  if (found === null) return
  const { page } = found
  if (page === 'bad_cursor') answerProblem(response, BAD_CURSOR)
  else if (page === null) answerNotFound(response)
  else await answerList(context, toList(page), query.spansFromMs)
}

function basedRest<Rest extends object>(rest: Rest, spansFromMs: number): Rest {
  const cursor = 'next_cursor' in rest ? rest.next_cursor : null
  return typeof cursor === 'string' ? { ...rest, next_cursor: basedCursor(cursor, spansFromMs) } : rest
}

/**
 * Answers rows, many of them in turns with other costly requests. @param spansFromMs as in the result of the query
 */
export async function answerList<Row>(
  context: TeamRequest,
  whole: WrittenList<Row>,
  spansFromMs: number | null = null,
): Promise<void> {
  const list = spansFromMs === null ? whole : { ...whole, rest: basedRest(whole.rest, spansFromMs) }
  const work = writeList(list)
  const isFew = list.rows.length <= (list.fewRows ?? FEW_ROWS)
  const text = isFew ? atOnce(work) : await workInTurns(context, work)
  if (text !== null) answerFresh(context, text)
}
