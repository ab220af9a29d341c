import type { Router } from 'express'
import { readPageQuery } from '../../contract/requests/list-query.ts'
import { readQueueEdit } from '../../contract/requests/queue-edit.ts'
import { toEditedQueue, toWireQueue } from '../../contract/responses/queue-wire.ts'
import type { Queue, QueueEditor, QueueStore } from '../../ports/queues.ts'
import type { Logger } from '../../ports/runtime.ts'
import { answerJson, answerNotFound } from '../answers.ts'
import type { BodyReader } from '../body-reader.ts'
import {
  acceptedBody,
  answerPage,
  createTeamRouter,
  needs,
  type TeamRequest,
  withBody,
  withId,
} from '../team-routes.ts'

export interface QueueRouteParts {
  readonly queues: QueueStore
  readonly editor: QueueEditor
  readonly bodies: BodyReader
  readonly logger: Logger
}

export function createQueueRoutes(parts: QueueRouteParts): Router {
  const { queues, editor } = parts
  return createTeamRouter({
    '/api/queues': { GET: needs('read', (context) => list(context, queues)) },
    '/api/queues/:queue_id': {
      GET: needs('read', async (context) =>
        answerQueue(context, await withId(context, 'queue_id', (id) => queues.get(context.team, id))),
      ),
      PATCH: needs('edit', (context) => withBody(context, parts, (body) => edit(context, editor, body))),
      DELETE: needs('edit', (context) => remove(context, editor)),
    },
    '/api/queues/:queue_id/pause': { POST: needs('operate', (context) => setActive(context, editor, false)) },
    '/api/queues/:queue_id/resume': { POST: needs('operate', (context) => setActive(context, editor, true)) },
  })
}

function list(context: TeamRequest, queues: QueueStore): Promise<void> {
  return answerPage(
    context,
    readPageQuery(context.search),
    (query) => queues.list({ team: context.team, ...query }),
    (page) => JSON.stringify({ queues: page.queues.map(toWireQueue), next_cursor: page.nextCursor }),
  )
}

async function edit(context: TeamRequest, editor: QueueEditor, body: Buffer): Promise<void> {
  const change = acceptedBody(context, readQueueEdit(body))
  if (change === null) return
  const queue = await withId(context, 'queue_id', (id) => editor.edit(context.team, id, change))
  answerQueue(context, queue, toEditedQueue)
}

async function setActive(context: TeamRequest, editor: QueueEditor, isActive: boolean): Promise<void> {
  const queue = await withId(context, 'queue_id', (id) => editor.edit(context.team, id, { isActive }))
  answerQueue(context, queue)
}

async function remove(context: TeamRequest, editor: QueueEditor): Promise<void> {
  const end = await withId(context, 'queue_id', (id) => editor.remove(context.team, id))
  if (end === 'removed') context.response.writeHead(204).end()
  else answerNotFound(context.response)
}

function answerQueue({ response }: TeamRequest, queue: Queue | null, toWire = toWireQueue): void {
  if (queue === null) answerNotFound(response)
  else answerJson(response, 200, JSON.stringify(toWire(queue)))
}
