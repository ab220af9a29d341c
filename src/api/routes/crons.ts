import type { RequestBody } from '../../contract/fields/json-body.ts'
import type { Router } from 'express'
import type { AuditedAction, AuditedResource } from '../../domain/access/audit-record.ts'
import type { CronSettings } from '../../domain/crons/cron.ts'
import type { SigningSecretRefs } from '../../ports/access/own-secrets.ts'
import type { AuditLog } from '../../ports/access/audit-log.ts'
import { editAmongOthers, entityTagHeader, entityTagOf } from '../entity-tag.ts'
import { withAudit } from '../audit-trail.ts'
import {
  type CronContext,
  readCronEdit,
  readCronPreview,
  readNewCron,
} from '../../contract/requests/cron-request.ts'
import { singleProblem } from '../../contract/fields/field-errors.ts'
import { keepsNothing } from '../../contract/fields/validation-texts.ts'
import { IDEMPOTENCY_CONFLICT } from '../../contract/fields/idempotency-key.ts'
import { readPageQuery } from '../../contract/requests/list-query.ts'
import {
  toCreatedCron,
  toEditedCron,
  toCronPreview,
  toCronSummary,
  toWireCron,
  toWireCronRun,
} from '../../contract/responses/cron-wire.ts'
import { MASK, missingHeader, shownCronSettings, withSecretPlaces } from '../../domain/access/masking.ts'
import { mayUseQueue } from '../../domain/access/principal.ts'
import { cronScheduleOf } from '../../domain/crons/cron.ts'
import { slicedTicks } from '../../domain/crons/sliced-ticks.ts'
import { EditRefusedError } from '../../domain/errors.ts'
import { formatTimestamp } from '../../domain/timestamp.ts'
import type { Cron, CronEditor, CronStore } from '../../ports/crons.ts'
import type { EgressPolicy } from '../../ports/http-caller.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { ManagedResources, TeamSettingsSource } from '../../ports/settings.ts'
import { newCronManifest } from '../../resources/manifests/cron-manifest.ts'
import { sightOf } from '../access/sight.ts'
import { type CursorBox, sealedPage } from '../access/sealed-cursors.ts'
import {
  answerError,
  answerJson,
  answerNotFound,
  answerOtherQueues,
  answerProblem,
  forbiddenText,
} from '../answers.ts'
import { type BodyReader, headerText } from '../body-reader.ts'
import { workInTurns } from '../bounds/costly-work.ts'
import { callDepthOf } from '../pushes/call-depth.ts'
import { answerRefusal, drainingRefusal } from '../pushes/push-answers.ts'
import {
  acceptedBody,
  answerPage,
  createTeamRouter,
  needsInQueues,
  type TeamRequest,
  withBody,
  withId,
} from '../team-routes.ts'

export interface CronRouteParts {
  readonly cursorBox: CursorBox
  readonly auditLog: AuditLog
  readonly crons: Pick<CronStore, 'list' | 'get' | 'runNow' | 'runs'>
  readonly cronEditor: CronEditor
  readonly managed: ManagedResources
  readonly signingRefs: SigningSecretRefs
  readonly bodies: BodyReader
  readonly egress: EgressPolicy
  readonly teamSettings: TeamSettingsSource
  readonly clock: Clock
  readonly logger: Logger
}

export function createCronRoutes(parts: CronRouteParts): Router {
  const { crons } = parts
  return createTeamRouter({
    '/api/crons': {
      GET: needsInQueues('read', (context) => list(context, parts)),
      POST: needsInQueues('edit', (context) =>
        withBody(context, parts, (body) => create(context, parts, body)),
      ),
    },
    '/api/crons/preview': {
      POST: needsInQueues('read', (context) =>
        withBody(context, parts, (body) => preview(context, parts, body)),
      ),
    },
    '/api/crons/:cron_id': {
      GET: needsInQueues('read', async (context) =>
        answerCron(context, parts, await withId(context, 'cron_id', (id) => crons.get(context.team, id))),
      ),
      PATCH: needsInQueues('edit', (context) =>
        withBody(context, parts, (body) => edit(context, parts, body)),
      ),
      DELETE: needsInQueues('edit', (context) => remove(context, parts)),
    },
    '/api/crons/:cron_id/manifest': { GET: needsInQueues('read', (context) => readManifest(context, parts)) },
    '/api/crons/:cron_id/run': { POST: needsInQueues('operate', (context) => runNow(context, parts)) },
    '/api/crons/:cron_id/pause': {
      POST: needsInQueues('operate', (context) => setActive(context, parts, false)),
    },
    '/api/crons/:cron_id/resume': {
      POST: needsInQueues('operate', (context) => setActive(context, parts, true)),
    },
    '/api/crons/:cron_id/runs': { GET: needsInQueues('read', (context) => listRuns(context, crons)) },
  })
}

async function create(context: TeamRequest, parts: CronRouteParts, body: RequestBody): Promise<void> {
  const { team, request, response } = context
  const idempotencyKey = headerText(request.headers['idempotency-key'])
  const wanted = acceptedBody(context, readNewCron(body, { ...checksOf(context, parts), idempotencyKey }))
  if (wanted === null) return
  if (!mayRunThrough(context, wanted.settings.queue)) return answerOtherQueues(response)
  foresee(wanted.settings, parts)
  const cron = await withAudit(parts.auditLog, context, {
    action: 'create',
    before: null,
    resource: { kind: 'cron', id: null, name: wanted.settings.displayName },
    change: () => parts.cronEditor.create(team, wanted.settings, wanted.key),
    endOf: (made) => (made === 'key_used' ? null : { after: toWireCron(made), resource: resourceOf(made) }),
  })
  if (cron === 'key_used') return answerProblem(response, IDEMPOTENCY_CONFLICT)
  answerJson(response, 201, JSON.stringify(toCreatedCron(cron)))
}

async function edit(context: TeamRequest, parts: CronRouteParts, body: RequestBody): Promise<void> {
  const change = acceptedBody(context, readCronEdit(body, checksOf(context, parts)))
  if (change === null) return
  const isMoved = change.queue !== undefined && !mayRunThrough(context, change.queue)
  if (isMoved) return answerOtherQueues(context.response)
  // The target would get to see what the caller may not.
  const isElsewhere = change.url !== undefined && !context.principal.permissions.has('payloads')
  if (isElsewhere) return answerError(context.response, 403, forbiddenText('payloads'))
  const { headers = {} } = change
  const missing = await withId(context, 'cron_id', async (id) => {
    const known = Object.values(headers).includes(MASK) ? await parts.crons.get(context.team, id) : null
    return known && missingHeader(headers, known.settings.headers)
  })
  if (missing !== null) return answerProblem(context.response, singleProblem(missing, keepsNothing(missing)))
  const cron = await changed(context, parts, { action: 'edit', change })
  return answerCron(context, parts, cron, toEditedCron)
}

async function preview(context: TeamRequest, { clock }: CronRouteParts, body: RequestBody): Promise<void> {
  const query = acceptedBody(context, readCronPreview(body))
  if (query === null) return
  const schedule = cronScheduleOf(query)
  if ('problem' in schedule) throw new Error(`a checked cron has no schedule: ${schedule.problem}`)
  const span = { afterMs: query.afterMs ?? clock.wallMs(), untilMs: Infinity, limit: query.count }
  const ticks = await workInTurns(context, slicedTicks(schedule, span))
  if (ticks === null) return
  const answer = toCronPreview(query, ticks)
  answerJson(context.response, 200, JSON.stringify(answer))
}

function list(context: TeamRequest, { crons, cursorBox: box, teamSettings }: CronRouteParts): Promise<void> {
  const { team, principal } = context
  const sight = sightOf(context, teamSettings)
  return answerPage(
    context,
    readPageQuery(context.search),
    (page) => sealedPage({ principal, box }, page, (query) => crons.list({ team, ...query })),
    (page) => ({
      field: 'crons',
      rows: page.crons.filter(({ settings }) => mayRunThrough(context, settings.queue)),
      toWire: (cron: Cron) => toCronSummary({ ...cron, settings: shownCronSettings(cron.settings, sight) }),
      rest: { next_cursor: page.nextCursor },
    }),
  )
}

function listRuns(context: TeamRequest, crons: CronRouteParts['crons']): Promise<void> {
  const { team, search } = context
  return answerPage(
    context,
    readPageQuery(search),
    (query) => withId(context, 'cron_id', (cronId) => crons.runs({ team, cronId, ...query })),
    (page) => ({
      field: 'runs',
      rows: page.runs,
      toWire: toWireCronRun,
      rest: { next_cursor: page.nextCursor },
    }),
  )
}

async function setActive(context: TeamRequest, parts: CronRouteParts, isActive: boolean): Promise<void> {
  const action = isActive ? 'resume' : 'pause'
  const cron = await changed(context, parts, { action, change: { isActive } })
  return answerCron(context, parts, cron, toEditedCron)
}

function changed(
  context: TeamRequest,
  parts: CronRouteParts,
  { action, change }: { readonly action: AuditedAction; readonly change: Partial<CronSettings> },
): Promise<Cron | null> {
  const { team } = context
  const { crons, cronEditor, auditLog, cursorBox } = parts
  return withId(context, 'cron_id', async (id) => {
    const known = await crons.get(team, id)
    if (known === null) return null
    // What the editor found may be newer.
    let before = known
    return withAudit(auditLog, context, {
      action,
      resource: resourceOf(known),
      before: toWireCron(known),
      change: () =>
        editAmongOthers(
          {
            request: context.request,
            taggedOf: (settings: CronSettings) => taggedOf({ ...known, settings }, cursorBox),
            noteFound: (settings) => {
              before = { ...known, settings }
              foresee({ ...settings, ...change }, parts)
            },
          },
          (check) => cronEditor.edit(team, id, change, check),
        ),
      endOf: (cron) => (cron === null ? null : { before: toWireCron(before), after: toWireCron(cron) }),
    })
  })
}

/**
 * Computes what the answer will say: what throws does so before the cron is stored. A schedule that nothing has checked,
 * as kubectl may have written it, is refused with its field.
 */
function foresee(settings: CronSettings, { clock }: CronRouteParts): void {
  const schedule = cronScheduleOf(settings)
  if ('problem' in schedule) {
    const field = schedule.field === 'timeZone' ? 'time_zone' : 'cron_expression'
    throw new EditRefusedError(`The ${field} of the cron ${schedule.problem}`)
  }
  const nextRunAtMs = schedule.next(clock.wallMs())
  const unused = { lastRun: null, lastSuccessAtMs: null, consecutiveFailures: 0 }
  toEditedCron({ cronId: 0, settings, nextRunAtMs, ...unused }, null)
}

async function remove(context: TeamRequest, { crons, cronEditor, auditLog }: CronRouteParts): Promise<void> {
  const { team, response } = context
  const end = await withId(context, 'cron_id', async (id) => {
    const before = await crons.get(team, id)
    if (before === null) return 'not_found'
    return withAudit(auditLog, context, {
      action: 'delete',
      resource: resourceOf(before),
      before: toWireCron(before),
      change: () => cronEditor.remove(team, id),
      endOf: (removal) => (removal === 'removed' ? { after: null } : null),
    })
  })
  if (end === 'removed') response.writeHead(204).end()
  else answerNotFound(response)
}

function resourceOf({ cronId, settings }: Cron): AuditedResource {
  return { kind: 'cron', id: cronId, name: settings.displayName }
}

async function runNow(context: TeamRequest, { crons, auditLog }: CronRouteParts): Promise<void> {
  const { team, request, response } = context
  const end = await withId(context, 'cron_id', async (cronId) => {
    const cron = await crons.get(team, cronId)
    if (cron === null) return null
    const run = await withAudit(auditLog, context, {
      action: 'run',
      resource: resourceOf(cron),
      before: null,
      change: () => crons.runNow(team, cronId, callDepthOf(request)),
      endOf: (made) => (made.status === 'started' ? { after: { job_id: made.jobId } } : null),
    })
    return { cronId, ...run }
  })
  switch (end?.status) {
    case 'started': {
      const { cronId, jobId, scheduledAtMs } = end
      const body = { cron_id: cronId, job_id: jobId, scheduled_at: formatTimestamp(scheduledAtMs) }
      return answerJson(response, 201, JSON.stringify(body))
    }
    case 'queue_draining':
      return answerRefusal(response, drainingRefusal(end.queue))
    case 'still_running':
      return answerError(response, 409, `Job ${end.jobId}, a run of this cron, has not ended`)
    case 'not_found':
    case undefined:
      return answerNotFound(response)
  }
}

function checksOf({ team }: TeamRequest, { egress, teamSettings }: CronRouteParts): CronContext {
  const settings = teamSettings.of(team)
  return { isBlocked: (url) => egress.refusalOf(url, settings) !== null }
}

async function answerCron(
  context: TeamRequest,
  { managed, cursorBox, teamSettings }: CronRouteParts,
  cron: Cron | null,
  toWire: typeof toEditedCron = toWireCron,
): Promise<void> {
  const { response } = context
  if (cron === null) return answerNotFound(response)
  const settings = shownCronSettings(cron.settings, sightOf(context, teamSettings))
  const wire = toWire({ ...cron, settings }, await managed.ofCron(cron.team, cron.name))
  answerJson(response, 200, JSON.stringify(wire), entityTagHeader(taggedOf(cron, cursorBox)))
}

async function readManifest(
  context: TeamRequest,
  { crons, signingRefs, teamSettings }: CronRouteParts,
): Promise<void> {
  const { team, response } = context
  const cron = await withId(context, 'cron_id', (id) => crons.get(team, id))
  if (cron === null) return answerNotFound(response)
  const shown = shownCronSettings(cron.settings, sightOf(context, teamSettings))
  const settings = { ...shown, headers: withSecretPlaces(shown.headers, cron.settings.headers) }
  const refs = await signingRefs.of({ team, kind: 'cron', name: cron.name })
  const manifest = newCronManifest({ name: cron.name, namespace: team }, settings, refs)
  answerJson(response, 200, JSON.stringify({ manifest }))
}

/**
 * An entity tag is of all settings, or two edits of what is hidden would both be the first. It must not tell whether a guess
 * of that is right: so it is of a digest, and no other cron with the same settings has the same.
 */
function taggedOf({ team, cronId, settings }: Cron, box: CursorBox): object {
  return { digest: box.digest(entityTagOf({ team, cronId, settings })) }
}

/** A cron without a queue runs through a hidden one, which no list of queues names. */
function mayRunThrough({ principal }: TeamRequest, queue: string | null): boolean {
  return principal.queues === null || (queue !== null && mayUseQueue(principal, queue))
}
