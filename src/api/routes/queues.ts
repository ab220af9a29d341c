import { Router } from 'express'
import { BAD_CURSOR, readPageQuery } from '../../contract/requests/list-query.ts'
import { readQueueEdit } from '../../contract/requests/queue-edit.ts'
import { toEditedQueue, toWireQueue } from '../../contract/responses/queue-wire.ts'
import type { Logger } from '../../ports/runtime.ts'
import type { Queue, QueueEditor, QueueStore } from '../../ports/queues.ts'
import { answerError, answerFault, answerJson, answerNotFound, answerProblem } from '../answers.ts'
import type { BodyReader } from '../request-body.ts'
import { forTeam, idOf, methodNotAllowed, type TeamRequest } from '../route-handler.ts'

export interface QueueRouteParts {
  readonly queues: QueueStore
  readonly editor: QueueEditor
  readonly bodies: BodyReader
  readonly logger: Logger
}

export function createQueueRoutes(parts: QueueRouteParts): Router {
  const { queues, editor } = parts
  const routes = Router({ strict: true, caseSensitive: true })
  routes
    .route('/api/queues')
    .get(forTeam((context) => list(context, queues)))
    .all(methodNotAllowed('GET', 'HEAD'))
  routes
    .route('/api/queues/:queue_id')
    .get(forTeam((context) => read(context, queues)))
    .patch(forTeam((context) => edit(context, parts)))
    .delete(forTeam((context) => remove(context, editor)))
    .all(methodNotAllowed('GET', 'HEAD', 'PATCH', 'DELETE'))
  routes
    .route('/api/queues/:queue_id/pause')
    .post(forTeam((context) => setActive(context, editor, false)))
    .all(methodNotAllowed('POST'))
  routes
    .route('/api/queues/:queue_id/resume')
    .post(forTeam((context) => setActive(context, editor, true)))
    .all(methodNotAllowed('POST'))
  return routes
}

async function list({ team, search, response }: TeamRequest, queues: QueueStore): Promise<void> {
  const query = readPageQuery(search)
  if (query.kind === 'invalid') return answerProblem(response, query.problem)
  const page = await queues.list({ team, ...query.value })
  if (page === 'bad_cursor') return answerProblem(response, BAD_CURSOR)
  const body = { queues: page.queues.map(toWireQueue), next_cursor: page.nextCursor }
  answerJson(response, 200, JSON.stringify(body))
}

async function read(context: TeamRequest, queues: QueueStore): Promise<void> {
  const queueId = idOf(context, 'queue_id')
  answerQueue(context, queueId === null ? null : await queues.get(context.team, queueId))
}

function edit(context: TeamRequest, { editor, bodies, logger }: QueueRouteParts): void {
  const { request, response } = context
  bodies.read(context, (body) =>
    applyEdit(context, editor, body).catch((fault: unknown) => answerFault(request, response, fault, logger)),
  )
}

async function applyEdit(context: TeamRequest, editor: QueueEditor, body: Buffer): Promise<void> {
  const { team, response } = context
  const change = readQueueEdit(body)
  if (change.kind === 'malformed') return answerError(response, 400, change.error)
  if (change.kind === 'invalid') return answerProblem(response, change.problem)
  const queueId = idOf(context, 'queue_id')
  const queue = queueId === null ? null : await editor.edit(team, queueId, change.value)
  if (queue === null) answerNotFound(response)
  else answerJson(response, 200, JSON.stringify(toEditedQueue(queue)))
}

async function setActive(context: TeamRequest, editor: QueueEditor, isActive: boolean): Promise<void> {
  const queueId = idOf(context, 'queue_id')
  answerQueue(context, queueId === null ? null : await editor.edit(context.team, queueId, { isActive }))
}

async function remove(context: TeamRequest, editor: QueueEditor): Promise<void> {
  const queueId = idOf(context, 'queue_id')
  const end = queueId === null ? 'not_found' : await editor.remove(context.team, queueId)
  if (end === 'removed') context.response.writeHead(204).end()
  else answerNotFound(context.response)
}

function answerQueue({ response }: TeamRequest, queue: Queue | null): void {
  if (queue === null) answerNotFound(response)
  else answerJson(response, 200, JSON.stringify(toWireQueue(queue)))
}
