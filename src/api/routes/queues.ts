import type { RequestBody } from '../../contract/fields/json-body.ts'
import type { Router } from 'express'
import type { AuditedAction, AuditedResource } from '../../domain/access/audit-record.ts'
import type { QueueStopKind } from '../../domain/queue-stop.ts'
import { EditRefusedError } from '../../domain/errors.ts'
import type { QueueSettings } from '../../domain/jobs/queue-settings.ts'
import type { SigningSecretRefs } from '../../ports/access/own-secrets.ts'
import type { AuditLog } from '../../ports/access/audit-log.ts'
import { editAmongOthers, entityTagHeader } from '../entity-tag.ts'
import { withAudit } from '../audit-trail.ts'
import { readQueueListQuery } from '../../contract/requests/list-query.ts'
import { readNewQueue, readQueueEdit, readQueueStop } from '../../contract/requests/queue-edit.ts'
import {
  toEditedQueue,
  toQueueState,
  toWireQueue,
  toWireQueueRow,
  toWireSummary,
} from '../../contract/responses/queue-wire.ts'
import { mayUseQueue } from '../../domain/access/principal.ts'
import type { ManagedBy } from '../../domain/managed-by.ts'
import type { QueueLists, QueueRow } from '../../ports/live/queue-lists.ts'
import type { Queue, QueueEditor, QueueStats, QueueStore } from '../../ports/queues.ts'
import type { ManagedResources } from '../../ports/settings.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import { newQueueManifest, nameOfPushedQueue } from '../../resources/manifests/queue-manifest.ts'
import { type CursorBox, sealedPage } from '../access/sealed-cursors.ts'
import { answerError, answerJson, answerNotFound, answerOtherQueues } from '../answers.ts'
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
  readonly queueLists: QueueLists
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
    '/api/queues': {
      GET: needsInQueues('read', (context) => list(context, parts)),
      POST: needsInQueues('edit', (context) =>
        withBody(context, parts, (body) => create(context, parts, body)),
      ),
    },
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
  const { queueLists, cursorBox: box } = parts
  const may = (name: string): boolean => mayUseQueue(principal, name)
  return answerPage(
    context,
    readQueueListQuery(context.search),
    ({ name, cursor, ...page }) =>
      name === null
        ? sealedPage({ principal, box }, { ...page, cursor }, (query) =>
            queueLists.list({ team, may, ...query }),
          )
        : named(queueLists, { team, name, cursor }),
    (page) => ({
      field: 'queues',
      rows: page.rows.filter(({ name }) => may(name)),
      toWire: (row: QueueRow) => toWireQueueRow(row, managedByOf(parts, row)),
      rest: { next_cursor: page.nextCursor, summary: toWireSummary(page.summary) },
    }),
  )
}

/** The page of the one queue with a name; no cursor leads on from it. */
async function named(
  queueLists: QueueLists,
  { team, name, cursor }: { readonly team: string; readonly name: string; readonly cursor: string | null },
): ReturnType<QueueLists['list']> {
  return cursor === null ? queueLists.named(team, name) : 'bad_cursor'
}

async function create(context: TeamRequest, parts: QueueRouteParts, body: RequestBody): Promise<void> {
  const { team, principal, response } = context
  const wanted = acceptedBody(context, readNewQueue(body))
  if (wanted === null) return
  const { name, settings } = wanted
  if (!mayUseQueue(principal, name)) return answerOtherQueues(response)
  const queue = await withAudit(parts.auditLog, context, {
    action: 'create',
    before: null,
    resource: { kind: 'queue', id: null, name },
    change: () => parts.editor.create(team, name, settings),
    endOf: (made) => (made === 'exists' ? null : { after: toWireQueue(made), resource: resourceOf(made) }),
  })
  if (queue === 'exists') return answerError(response, 409, EXISTS)
  const wire = toEditedQueue(queue, managedByOf(parts, queue))
  answerJson(response, 201, JSON.stringify(wire), entityTagHeader(queue.settings))
}

const EXISTS = 'The queue exists already: change it by PATCH /api/queues/{queue_id}'

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

/**
 * Ends pause, drain and throttle. No setting says of a throttle, so a queue that nothing else stops is not edited: its
 * resource may be kept by somebody whose manifests this API may not change.
 */
async function resume(context: TeamRequest, parts: StoppableParts): Promise<void> {
  const { queues, editor } = parts
  const { team } = context
  const wanted = { action: 'resume', change: { isActive: true, isDraining: false } } as const
  const edit = async (known: Queue, check?: SettingsCheck): Promise<Queue | null> => {
    const { throttle, settings, queueId } = known
    let edited: Queue | null
    if (throttle !== null && settings.isActive && !settings.isDraining) {
      check?.(settings)
      edited = known
    } else {
      edited = await editor.edit(team, queueId, wanted.change, check).catch(async (fault: unknown) => {
        if (throttle !== null && fault instanceof EditRefusedError) await queues.unthrottle(team, queueId)
        throw fault
      })
    }
    if (edited === null || !(await queues.unthrottle(team, queueId))) return null
    const now = await queues.get(team, queueId)
    // An edit that is not applied yet is shown as it was written.
    return now && { ...now, settings: edited.settings }
  }
  answerQueue(context, parts, await changed(context, parts, { ...wanted, edit }))
}

type SettingsCheck = Parameters<QueueEditor['edit']>[3]

interface WantedEdit {
  readonly action: AuditedAction
  readonly change: Partial<QueueSettings>
  /** Why, for the audit log. */
  readonly reason?: string | null
  /** Makes the change, if there is more to it than an edit of the settings. */
  readonly edit?: (known: Queue, check?: SettingsCheck) => Promise<Queue | null>
}

async function changed(
  context: TeamRequest,
  { queues, editor, auditLog, stops }: StoppableParts,
  { action, change, reason = null, ...wanted }: WantedEdit,
): Promise<Queue | null> {
  const { team } = context
  const edit =
    wanted.edit ?? (({ queueId }: Queue, check?: SettingsCheck) => editor.edit(team, queueId, change, check))
  const edited = await withId(context, 'queue_id', async (id) => {
    const known = await queues.get(team, id)
    if (known === null) return null
    // What the editor found may be newer.
    let before = known
    return withAudit(auditLog, context, {
      action,
      resource: resourceOf(known),
      before: toWireQueue(known),
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
          (check) => edit(known, check),
        ),
      endOf: (queue) =>
        queue === null
          ? null
          : {
              before: { ...toWireQueue(before), ...endedThrottle(action, known) },
              after: {
                ...toWireQueue(queue),
                ...(reason !== null && { reason }),
                ...(endedThrottle(action, known) && { throttle_reason: queue.throttle?.reason ?? null }),
              },
            },
    })
  })
  if (edited !== null) stops.forget(edited)
  return edited
}

/** What a resume ends, for the audit log; after any other change a throttle has come or gone by itself. */
function endedThrottle(
  action: AuditedAction,
  { throttle }: Queue,
): { readonly throttle_reason: string } | null {
  return action === 'resume' && throttle !== null ? { throttle_reason: throttle.reason } : null
}

async function remove(context: TeamRequest, { queues, editor, auditLog }: QueueRouteParts): Promise<void> {
  const { team, response } = context
  const end = await withId(context, 'queue_id', async (id) => {
    const before = await queues.get(team, id)
    if (before === null) return 'not_found'
    return withAudit(auditLog, context, {
      action: 'delete',
      resource: resourceOf(before),
      before: toWireQueue(before),
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
  answerJson(response, 200, JSON.stringify(toQueueState(stops, entry ?? null)))
}

function managedByOf({ managed }: QueueRouteParts, { team, name }: Queue): ManagedBy | null {
  return managed.ofQueue(team, name)?.managedBy ?? null
}
