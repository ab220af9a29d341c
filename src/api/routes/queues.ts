import type { RequestBody } from '../../contract/fields/json-body.ts'
import type { Router } from 'express'
import type { AuditedAction, AuditedResource } from '../../domain/access/audit-record.ts'
import type { QueueStopKind } from '../../domain/queue-stop.ts'
import type { QueueSettings } from '../../domain/jobs/queue-settings.ts'
import type { SigningSecretRefs } from '../../ports/access/own-secrets.ts'
import type { AuditLog } from '../../ports/audit-log.ts'
import { editAmongOthers, entityTagHeader } from '../entity-tag.ts'
import { withAudit } from '../audit-trail.ts'
import { type Page, readQueueListQuery } from '../../contract/requests/list-query.ts'
import { readQueueEdit, readQueueStop } from '../../contract/requests/queue-edit.ts'
import { toEditedQueue, toQueueState, toWireQueue } from '../../contract/responses/queue-wire.ts'
import { mayUseQueue } from '../../domain/access/principal.ts'
import type { ManagedBy } from '../../domain/managed-by.ts'
import type { Queue, QueueEditor, QueueStats, QueueStore } from '../../ports/queues.ts'
import type { ManagedResources } from '../../ports/settings.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import { newQueueManifest, nameOfPushedQueue } from '../../resources/manifests/queue-manifest.ts'
import { type CursorBox, sealedPage } from '../access/sealed-cursors.ts'
import { answerJson, answerNotFound } from '../answers.ts'
import type { BodyReader } from '../body-reader.ts'
import { StopFinder } from './stop-finder.ts'
import {
  acceptedBody,
  answerPage,
  createTeamRouter,
  hasBody,
  needsInQueues,
  type TeamRequest,
  withBody,
  withId,
} from '../team-routes.ts'

export interface QueueRouteParts {
  readonly cursorBox: CursorBox
  readonly queues: QueueStore
  readonly queueStats: Pick<QueueStats, 'count'>
  readonly editor: QueueEditor
  readonly managed: ManagedResources
  readonly signingRefs: SigningSecretRefs
  readonly auditLog: AuditLog
  readonly bodies: BodyReader
  readonly clock: Clock
  readonly logger: Logger
}

type StoppableParts = QueueRouteParts & { readonly stops: StopFinder }

export function createQueueRoutes(routeParts: QueueRouteParts): Router {
  const parts = { ...routeParts, stops: new StopFinder(routeParts) }
  const { queues } = parts
  return createTeamRouter({
    '/api/queues': { GET: needsInQueues('read', (context) => list(context, parts)) },
    '/api/queues/:queue_id': {
      GET: needsInQueues('read', async (context) =>
        answerQueue(context, parts, await withId(context, 'queue_id', (id) => queues.get(context.team, id))),
      ),
      PATCH: needsInQueues('edit', (context) =>
        withBody(context, parts, (body) => edit(context, parts, body)),
      ),
      DELETE: needsInQueues('edit', (context) => remove(context, parts)),
    },
    '/api/queues/:queue_id/manifest': {
      GET: needsInQueues('read', (context) => readManifest(context, parts)),
    },
    '/api/queues/:queue_id/state': {
      GET: needsInQueues('read', (context) => readState(context, parts)),
    },
    '/api/queues/:queue_id/pause': {
      POST: needsInQueues('operate', (context) => stop(context, parts, 'pause')),
    },
    '/api/queues/:queue_id/drain': {
      POST: needsInQueues('operate', (context) => stop(context, parts, 'drain')),
    },
    '/api/queues/:queue_id/resume': { POST: needsInQueues('operate', (context) => resume(context, parts)) },
  })
}

function list(context: TeamRequest, parts: QueueRouteParts): Promise<void> {
  const { team, principal } = context
  const { queues, cursorBox: box } = parts
  return answerPage(
    context,
    readQueueListQuery(context.search),
    ({ name, ...page }) =>
      name === null
        ? sealedPage({ principal, box }, page, (query) => queues.list({ team, ...query }))
        : named(queues, { team, name, ...page }),
    (page) => ({
      field: 'queues',
      rows: page.queues.filter(({ name }) => mayUseQueue(principal, name)),
      toWire: (queue: Queue) => toWireQueue(queue, managedByOf(parts, queue)),
      rest: { next_cursor: page.nextCursor },
    }),
  )
}

/** The page of the one queue with a name; no cursor leads on from it. */
async function named(
  queues: QueueStore,
  { team, name, cursor }: Page & { readonly team: string; readonly name: string },
): ReturnType<QueueStore['list']> {
  if (cursor !== null) return 'bad_cursor'
  const queue = await queues.getByName(team, name)
  return { queues: queue === null ? [] : [queue], nextCursor: null }
}

async function edit(context: TeamRequest, parts: StoppableParts, body: RequestBody): Promise<void> {
  const change = acceptedBody(context, readQueueEdit(body))
  if (change === null) return
  answerQueue(context, parts, await changed(context, parts, { action: 'edit', change }), toEditedQueue)
}

const STOPPED = { pause: { isActive: false }, drain: { isDraining: true } } as const

/** The body is optional. */
function stop(context: TeamRequest, parts: StoppableParts, kind: QueueStopKind): Promise<void> | void {
  const run = async (reason: string | null): Promise<void> => {
    const wanted = { action: kind, change: STOPPED[kind], reason }
    answerQueue(context, parts, await changed(context, parts, wanted))
  }
  if (!hasBody(context)) return run(null)
  withBody(context, parts, async (body) => {
    const given = acceptedBody(context, readQueueStop(body))
    if (given !== null) await run(given.reason)
  })
}

async function resume(context: TeamRequest, parts: StoppableParts): Promise<void> {
  const wanted = { action: 'resume', change: { isActive: true, isDraining: false } } as const
  answerQueue(context, parts, await changed(context, parts, wanted))
}

interface WantedEdit {
  readonly action: AuditedAction
  readonly change: Partial<QueueSettings>
  /** Why, for the audit log. */
  readonly reason?: string | null
}

async function changed(
  context: TeamRequest,
  { queues, editor, auditLog, stops }: StoppableParts,
  { action, change, reason = null }: WantedEdit,
): Promise<Queue | null> {
  const { team } = context
  const edited = await withId(context, 'queue_id', async (id) => {
    const known = await queues.get(team, id)
    if (known === null) return null
    // What the editor found may be newer.
    let before = known
    return withAudit(auditLog, context, {
      ...{ action, resource: resourceOf(known), before: toWireQueue(known) },
      change: () =>
        editAmongOthers(
          {
            request: context.request,
            taggedOf: (settings: QueueSettings) => settings,
            noteFound: (settings) => {
              before = { ...known, settings }
              // What the answer will say is computed before the change is stored.
              toEditedQueue({ ...known, settings: { ...settings, ...change } })
            },
          },
          (check) => editor.edit(team, id, change, check),
        ),
      endOf: (queue) =>
        queue === null
          ? null
          : {
              before: toWireQueue(before),
              after: { ...toWireQueue(queue), ...(reason !== null && { reason }) },
            },
    })
  })
  if (edited !== null) stops.forget(edited)
  return edited
}

async function remove(context: TeamRequest, { queues, editor, auditLog }: QueueRouteParts): Promise<void> {
  const { team, response } = context
  const end = await withId(context, 'queue_id', async (id) => {
    const before = await queues.get(team, id)
    if (before === null) return 'not_found'
    return withAudit(auditLog, context, {
      ...{ action: 'delete', resource: resourceOf(before), before: toWireQueue(before) },
      change: () => editor.remove(team, id),
      endOf: (removal) => (removal === 'removed' ? { after: null } : null),
    })
  })
  if (end === 'removed') response.writeHead(204).end()
  else answerNotFound(response)
}

function resourceOf({ queueId, name }: Queue): AuditedResource {
  return { kind: 'queue', id: queueId, name }
}

function answerQueue(
  { response }: TeamRequest,
  parts: QueueRouteParts,
  queue: Queue | null,
  toWire: typeof toWireQueue = toWireQueue,
): void {
  if (queue === null) return answerNotFound(response)
  const wire = toWire(queue, managedByOf(parts, queue))
  answerJson(response, 200, JSON.stringify(wire), entityTagHeader(queue.settings))
}

async function readManifest(
  context: TeamRequest,
  { queues, managed, signingRefs }: QueueRouteParts,
): Promise<void> {
  const { team, response } = context
  const queue = await withId(context, 'queue_id', (id) => queues.get(team, id))
  if (queue === null) return answerNotFound(response)
  const name = managed.ofQueue(team, queue.name)?.name ?? nameOfPushedQueue(queue.name)
  const refs = await signingRefs.of({ team, kind: 'queue', name: queue.name })
  const manifest = newQueueManifest({ name, namespace: team }, queue, refs)
  answerJson(response, 200, JSON.stringify({ manifest }))
}

async function readState(context: TeamRequest, parts: StoppableParts): Promise<void> {
  const { team, response } = context
  const queue = await withId(context, 'queue_id', (id) => parts.queues.get(team, id))
  if (queue === null) return answerNotFound(response)
  const { isActive, isDraining } = queue.settings
  const [[entry], { pause, drain }] = await Promise.all([
    parts.queueStats.count([{ team, name: queue.name }]),
    parts.stops.find(queue),
  ])
  const stops = { pause: isActive ? undefined : pause, drain: isDraining ? drain : undefined }
  answerJson(response, 200, JSON.stringify(toQueueState(stops, entry?.oldestReadyMs ?? null)))
}

function managedByOf({ managed }: QueueRouteParts, { team, name }: Queue): ManagedBy | null {
  return managed.ofQueue(team, name)?.managedBy ?? null
}
