import type { Router } from 'express'
import type { AuditedAction, AuditedResource } from '../../domain/access/audit-record.ts'
import type { CronSettings } from '../../domain/crons/cron.ts'
import type { AuditLog } from '../../ports/audit-log.ts'
import { editAmongOthers, entityTagHeader } from '../entity-tag.ts'
import { withAudit } from '../audit-trail.ts'
import {
  type CronContext,
  readCronEdit,
  readCronPreview,
  readNewCron,
} from '../../contract/requests/cron-request.ts'
import { IDEMPOTENCY_CONFLICT } from '../../contract/requests/idempotency-key.ts'
import { readPageQuery } from '../../contract/requests/list-query.ts'
import {
  toCreatedCron,
  toCronPreview,
  toCronSummary,
  toWireCron,
  toWireCronRun,
} from '../../contract/responses/cron-wire.ts'
import { maskedCronSettings } from '../../domain/access/masking.ts'
import { mayUseQueue, type Principal } from '../../domain/access/principal.ts'
import { cronScheduleOf } from '../../domain/crons/cron.ts'
import { formatTimestamp } from '../../domain/timestamp.ts'
import type { Cron, CronEditor, CronStore } from '../../ports/crons.ts'
import type { EgressPolicy } from '../../ports/http-caller.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { ManagedResources, TeamSettingsSource } from '../../ports/settings.ts'
import { newCronManifest } from '../../resources/manifests/cron-manifest.ts'
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

async function create(context: TeamRequest, parts: CronRouteParts, body: Buffer): Promise<void> {
  const { team, request, response } = context
  const idempotencyKey = headerText(request.headers['idempotency-key'])
  const wanted = acceptedBody(context, readNewCron(body, { ...checksOf(context, parts), idempotencyKey }))
  if (wanted === null) return
  if (!mayRunThrough(context, wanted.settings.queue)) return answerOtherQueues(response)
  const cron = await withAudit(parts.auditLog, context, {
    ...{ action: 'create', before: null },
    resource: { kind: 'cron', id: null, name: wanted.settings.displayName },
    change: () => parts.cronEditor.create(team, wanted.settings, wanted.key),
    endOf: (made) => (made === 'key_used' ? null : { after: toWireCron(made), resource: resourceOf(made) }),
  })
  if (cron === 'key_used') return answerProblem(response, IDEMPOTENCY_CONFLICT)
  answerJson(response, 201, JSON.stringify(toCreatedCron(cron)))
}

async function edit(context: TeamRequest, parts: CronRouteParts, body: Buffer): Promise<void> {
  const change = acceptedBody(context, readCronEdit(body, checksOf(context, parts)))
  if (change === null) return
  const isMoved = change.queue !== undefined && !mayRunThrough(context, change.queue)
  if (isMoved) return answerOtherQueues(context.response)
  // The target would get to see what the caller may not.
  const isElsewhere = change.url !== undefined && !context.principal.permissions.has('payloads')
  if (isElsewhere) return answerError(context.response, 403, forbiddenText('payloads'))
  return answerCron(context, parts, await changed(context, parts, { action: 'edit', change }))
}

function preview(context: TeamRequest, { clock }: CronRouteParts, body: Buffer): void {
  const query = acceptedBody(context, readCronPreview(body))
  if (query === null) return
  const schedule = cronScheduleOf(query)
  if ('problem' in schedule) throw new Error(`a checked cron has no schedule: ${schedule.problem}`)
  const ticks = schedule.between(query.afterMs ?? clock.wallMs(), Infinity, query.count)
  const answer = toCronPreview(query, ticks)
  answerJson(context.response, 200, JSON.stringify(answer))
}

function list(context: TeamRequest, { crons, cursorBox: box }: CronRouteParts): Promise<void> {
  const { team, principal } = context
  return answerPage(
    context,
    readPageQuery(context.search),
    (page) => sealedPage({ principal, box }, page, (query) => crons.list({ team, ...query })),
    (page) => {
      const shown = page.crons.filter(({ settings }) => mayRunThrough(context, settings.queue))
      return JSON.stringify({ crons: shown.map(toCronSummary), next_cursor: page.nextCursor })
    },
  )
}

function listRuns(context: TeamRequest, crons: CronRouteParts['crons']): Promise<void> {
  const { team, search } = context
  return answerPage(
    context,
    readPageQuery(search),
    (query) => withId(context, 'cron_id', (cronId) => crons.runs({ team, cronId, ...query })),
    (page) => JSON.stringify({ runs: page.runs.map(toWireCronRun), next_cursor: page.nextCursor }),
  )
}

async function setActive(context: TeamRequest, parts: CronRouteParts, isActive: boolean): Promise<void> {
  const action = isActive ? 'resume' : 'pause'
  return answerCron(context, parts, await changed(context, parts, { action, change: { isActive } }))
}

function changed(
  context: TeamRequest,
  { crons, cronEditor, auditLog }: CronRouteParts,
  { action, change }: { readonly action: AuditedAction; readonly change: Partial<CronSettings> },
): Promise<Cron | null> {
  const { team } = context
  return withId(context, 'cron_id', async (id) => {
    const known = await crons.get(team, id)
    if (known === null) return null
    // What the editor found may be newer.
    let before = known
    return withAudit(auditLog, context, {
      ...{ action, resource: resourceOf(known), before: toWireCron(known) },
      change: () =>
        editAmongOthers(
          {
            request: context.request,
            shown: (settings: CronSettings) => shownTo(context.principal, settings),
            noteFound: (settings) => (before = { ...known, settings }),
          },
          (check) => cronEditor.edit(team, id, change, check),
        ),
      endOf: (cron) => (cron === null ? null : { before: toWireCron(before), after: toWireCron(cron) }),
    })
  })
}

async function remove(context: TeamRequest, { crons, cronEditor, auditLog }: CronRouteParts): Promise<void> {
  const { team, response } = context
  const end = await withId(context, 'cron_id', async (id) => {
    const before = await crons.get(team, id)
    if (before === null) return 'not_found'
    return withAudit(auditLog, context, {
      ...{ action: 'delete', resource: resourceOf(before), before: toWireCron(before) },
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
  const { team, response } = context
  const end = await withId(context, 'cron_id', async (cronId) => {
    const cron = await crons.get(team, cronId)
    if (cron === null) return null
    const run = await withAudit(auditLog, context, {
      ...{ action: 'run', resource: resourceOf(cron), before: null },
      change: () => crons.runNow(team, cronId),
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
  { principal, response }: TeamRequest,
  { managed }: CronRouteParts,
  cron: Cron | null,
): Promise<void> {
  if (cron === null) return answerNotFound(response)
  const settings = shownTo(principal, cron.settings)
  const wire = toWireCron({ ...cron, settings }, await managed.ofCron(cron.team, cron.name))
  answerJson(response, 200, JSON.stringify(wire), entityTagHeader(settings))
}

async function readManifest(context: TeamRequest, { crons }: CronRouteParts): Promise<void> {
  const { team, principal, response } = context
  const cron = await withId(context, 'cron_id', (id) => crons.get(team, id))
  if (cron === null) return answerNotFound(response)
  const manifest = newCronManifest(cron.name, team, shownTo(principal, cron.settings))
  answerJson(response, 200, JSON.stringify({ manifest }))
}

/** The entity tag is of this, too: one of what is hidden would tell whether a guess is right. */
function shownTo({ permissions }: Principal, settings: CronSettings): CronSettings {
  return permissions.has('payloads') ? settings : maskedCronSettings(settings)
}

/** A cron without a queue runs through a hidden one, which no list of queues names. */
function mayRunThrough({ principal }: TeamRequest, queue: string | null): boolean {
  return principal.queues === null || (queue !== null && mayUseQueue(principal, queue))
}
