import type { RequestBody } from '../../../contract/fields/json-body.ts'
import type { Router } from 'express'
import type { AuditedResource } from '../../../domain/access/audit-record.ts'
import type { AuditLog } from '../../../ports/access/audit-log.ts'
import { entityTagHeader, ifMatchOf } from '../../entity-tag.ts'
import { withAudit } from '../../audit-trail.ts'
import { singleProblem } from '../../../contract/fields/field-errors.ts'
import { selectedInvalid } from '../../../contract/fields/validation-texts.ts'
import { readPageQuery } from '../../../contract/requests/list-query.ts'
import {
  type GivenResource,
  readNewWindow,
  readWindowEdit,
} from '../../../contract/requests/windows/window-request.ts'
import { type ShownResource, toWireWindow } from '../../../contract/responses/window-wire.ts'
import type {
  MaintenanceWindow,
  WindowResource,
  WindowSettings,
} from '../../../domain/windows/maintenance-window.ts'
import { WindowOpenings } from '../../../domain/windows/window-openings.ts'
import type { CronStore } from '../../../ports/crons.ts'
import type { QueueStore } from '../../../ports/queues.ts'
import type { Clock, Logger } from '../../../ports/runtime.ts'
import type { WindowChange, WindowEditor, WindowStore } from '../../../ports/windows.ts'
import { maySeeResource } from '../../access/queue-guard.ts'
import { type CursorBox, sealedPage } from '../../access/sealed-cursors.ts'
import { answerJson, answerNotFound, answerProblem } from '../../answers.ts'
import type { BodyReader } from '../../body-reader.ts'
import {
  acceptedBody,
  answerPage,
  createTeamRouter,
  needs,
  needsInQueues,
  type TeamRequest,
  withBody,
} from '../../team-routes.ts'
import { answerOpenings, answerPreview } from './window-openings.ts'

export interface WindowRouteParts {
  readonly cursorBox: CursorBox
  readonly auditLog: AuditLog
  readonly windows: WindowStore
  readonly windowEditor: WindowEditor
  readonly queues: Pick<QueueStore, 'get' | 'getByName'>
  readonly crons: Pick<CronStore, 'get' | 'getByName'>
  readonly bodies: BodyReader
  readonly clock: Clock
  readonly logger: Logger
}

/** Each may have ten schedules of which the next opening is years away. */
const FEW_WINDOWS = 2

export function createWindowRoutes(parts: WindowRouteParts): Router {
  return createTeamRouter({
    '/api/maintenance-windows': {
      GET: needsInQueues('read', (context) => list(context, parts)),
      POST: needs('operate', (context) => withBody(context, parts, (body) => create(context, parts, body))),
    },
    // A path of its own: a window may have any name.
    '/api/window-openings': {
      GET: needsInQueues('read', (context) => answerOpenings(context, parts)),
      POST: needsInQueues('read', (context) =>
        withBody(context, parts, (body) => answerPreview(context, parts, body)),
      ),
    },
    '/api/maintenance-windows/:window_id': {
      GET: needsInQueues('read', async (context) =>
        answerWindow(context, parts, await parts.windows.get(context.team, nameOf(context))),
      ),
      PATCH: needs('operate', (context) => withBody(context, parts, (body) => edit(context, parts, body))),
      DELETE: needs('operate', (context) => remove(context, parts)),
    },
  })
}

function nameOf({ parameter }: TeamRequest): string {
  return parameter('window_id')
}

function list(context: TeamRequest, parts: WindowRouteParts): Promise<void> {
  const { team, principal, search } = context
  return answerPage(
    context,
    readPageQuery(search),
    async (query) => {
      const page = await sealedPage({ principal, box: parts.cursorBox }, query, (opened) =>
        parts.windows.list({ team, ...opened }),
      )
      if (page === 'bad_cursor') return page
      const shown = page.windows.filter(({ resource }) => maySeeResource(principal, resource))
      const rows = await Promise.all(
        shown.map(async (window) => ({ window, resource: await shownResource(window, parts) })),
      )
      return { rows, next_cursor: page.nextCursor }
    },
    ({ rows, ...rest }) => ({
      field: 'windows',
      rows,
      toWire: ({ window, resource }) => toWireWindow(window, resource, parts.clock.wallMs()),
      rest,
      fewRows: FEW_WINDOWS,
    }),
  )
}

async function create(context: TeamRequest, parts: WindowRouteParts, body: RequestBody): Promise<void> {
  const { team, response } = context
  const wanted = acceptedBody(context, readNewWindow(body))
  if (wanted === null) return
  const found = await resolved(context, parts, wanted.resource ?? null)
  if (found === undefined) return
  const { resource, shown } = found
  foresee(wanted.settings, parts)
  const window = await withAudit(parts.auditLog, context, {
    action: 'create',
    before: null,
    resource: { kind: 'window', id: wanted.name, name: wanted.name },
    change: () => parts.windowEditor.create(team, wanted.name, { ...wanted.settings, resource }),
    endOf: (made) => ({ after: shownFields(made, parts), resource: resourceOf(made) }),
  })
  answerJson(response, 201, JSON.stringify(toWireWindow(window, shown, parts.clock.wallMs())))
}

async function edit(context: TeamRequest, parts: WindowRouteParts, body: RequestBody): Promise<void> {
  // The editor calls this: only there is `current` sure to have what other edits have written.
  const change: WindowChange = async (current) => {
    before = { ...before, ...settingsOf(current) }
    ifMatchOf(context.request)?.(settingsOf(current))
    const wanted = acceptedBody(context, readWindowEdit(body, current))
    if (wanted === null) return 'refused'
    const { resource } =
      (wanted.resource === undefined ? current : await resolved(context, parts, wanted.resource)) ?? {}
    if (resource === undefined) return 'refused'
    foresee(wanted.settings, parts)
    return { ...wanted.settings, resource }
  }
  const known = await parts.windows.get(context.team, nameOf(context))
  if (known === null) return answerNotFound(context.response)
  let before = known
  const window = await withAudit(parts.auditLog, context, {
    action: 'edit',
    resource: resourceOf(known),
    before: shownFields(known, parts),
    change: () => parts.windowEditor.edit(context.team, known.name, change),
    endOf: (edited) =>
      edited === null || edited === 'refused'
        ? null
        : { before: shownFields(before, parts), after: shownFields(edited, parts) },
  })
  if (window !== 'refused') await answerWindow(context, parts, window)
}

async function remove(context: TeamRequest, parts: WindowRouteParts): Promise<void> {
  const { team, response } = context
  const before = await parts.windows.get(team, nameOf(context))
  if (before === null) return answerNotFound(response)
  const end = await withAudit(parts.auditLog, context, {
    action: 'delete',
    resource: resourceOf(before),
    before: shownFields(before, parts),
    change: () => parts.windowEditor.remove(team, before.name),
    endOf: (removal) => (removal === 'removed' ? { after: null } : null),
  })
  if (end === 'removed') response.writeHead(204).end()
  else answerNotFound(response)
}

/** Computes what the answer will say: what throws does so before the window is stored. */
function foresee({ times }: Pick<WindowSettings, 'times'>, { clock }: WindowRouteParts): void {
  new WindowOpenings(times).at(clock.wallMs())
}

/** The settings that an edit can change. */
function settingsOf({ action, times, reason, resource }: WindowSettings): WindowSettings {
  return { action, times, reason, resource }
}

function resourceOf({ name }: MaintenanceWindow): AuditedResource {
  return { kind: 'window', id: name, name }
}

/** Fields of a window for the audit log, which names a resource by its name and does not say what is active now. */
function shownFields(window: MaintenanceWindow, { clock }: WindowRouteParts): object {
  const { resource } = window
  const shown = toWireWindow(window, resource === null ? null : { ...resource, id: null }, clock.wallMs())
  const { active: _active, active_since: _since, ends_at: _ends, next_start_at: _next, ...rest } = shown
  const { problem: _problem, ...fields } = rest
  return fields
}

interface FoundResource {
  readonly resource: WindowResource | null
  readonly shown: ShownResource | null
}

/** The resource by its name; undefined once a 422 has been answered because there is none with this id. */
async function resolved(
  { team, response }: TeamRequest,
  { queues, crons }: WindowRouteParts,
  given: GivenResource | null,
): Promise<FoundResource | undefined> {
  if (given === null) return { resource: null, shown: null }
  const { kind, id } = given
  const queue = kind === 'queue' ? await queues.get(team, id) : null
  const cron = kind === 'cron' ? await crons.get(team, id) : null
  const name = queue?.name ?? cron?.name
  if (name !== undefined)
    return { resource: { kind, name }, shown: { kind, id, name: cron?.settings.displayName ?? name } }
  answerProblem(response, singleProblem('resource.id', selectedInvalid('resource.id')))
  return undefined
}

async function answerWindow(
  { response }: TeamRequest,
  parts: WindowRouteParts,
  window: MaintenanceWindow | null,
): Promise<void> {
  if (window === null) answerNotFound(response)
  else {
    const body = JSON.stringify(await toWire(window, parts))
    answerJson(response, 200, body, entityTagHeader(settingsOf(window)))
  }
}

async function toWire(window: MaintenanceWindow, parts: WindowRouteParts) {
  return toWireWindow(window, await shownResource(window, parts), parts.clock.wallMs())
}

async function shownResource(
  { team, resource }: MaintenanceWindow,
  { queues, crons }: WindowRouteParts,
): Promise<ShownResource | null> {
  if (resource === null) return null
  const { kind, name } = resource
  if (kind === 'queue') return { kind, id: (await queues.getByName(team, name))?.queueId ?? null, name }
  const cron = await crons.getByName(team, name)
  return { kind, id: cron?.cronId ?? null, name: cron?.settings.displayName ?? name }
}
