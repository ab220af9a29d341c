import { Router } from 'express'
import { readCronEdit, readCronPreview, readNewCron } from '../../contract/requests/cron-request.ts'
import type { CronContext } from '../../contract/requests/cron-request.ts'
import {
  toCreatedCron,
  toCronPreview,
  toCronSummary,
  toWireCron,
  toWireCronRun,
} from '../../contract/responses/cron-wire.ts'
import { singleProblem } from '../../contract/fields/field-errors.ts'
import { IDEMPOTENCY_FIELD } from '../../contract/requests/idempotency-key.ts'
import type { BodyResult } from '../../contract/fields/json-body.ts'
import { BAD_CURSOR, readPageQuery } from '../../contract/requests/list-query.ts'
import { alreadyUsed } from '../../contract/fields/validation-texts.ts'
import { describeCron } from '../../domain/crons/cron-description.ts'
import { cronScheduleOf } from '../../domain/crons/cron.ts'
import { formatTimestamp } from '../../domain/timestamp.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { Cron, CronEditor, CronStore } from '../../ports/crons.ts'
import type { EgressPolicy } from '../../ports/http-caller.ts'
import type { TeamSettingsSource } from '../../ports/settings.ts'
import { answerError, answerFault, answerJson, answerNotFound, answerProblem } from '../answers.ts'
import { headerText, type BodyReader } from '../request-body.ts'
import { forTeam, idOf, methodNotAllowed, type TeamRequest } from '../route-handler.ts'

export interface CronRouteParts {
  readonly crons: Pick<CronStore, 'list' | 'get' | 'runNow' | 'runs'>
  readonly cronEditor: CronEditor
  readonly bodies: BodyReader
  readonly egress: EgressPolicy
  readonly teamSettings: TeamSettingsSource
  readonly clock: Clock
  readonly logger: Logger
}

export function createCronRoutes(parts: CronRouteParts): Router {
  const { crons, cronEditor } = parts
  const routes = Router({ strict: true, caseSensitive: true })
  routes
    .route('/api/crons')
    .get(forTeam((context) => list(context, crons)))
    .post(forTeam((context) => withBody(context, parts, create)))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'))
  routes
    .route('/api/crons/preview')
    .post(forTeam((context) => withBody(context, parts, preview)))
    .all(methodNotAllowed('POST'))
  routes
    .route('/api/crons/:cron_id')
    .get(forTeam((context) => read(context, crons)))
    .patch(forTeam((context) => withBody(context, parts, edit)))
    .delete(forTeam((context) => remove(context, cronEditor)))
    .all(methodNotAllowed('GET', 'HEAD', 'PATCH', 'DELETE'))
  routes
    .route('/api/crons/:cron_id/run')
    .post(forTeam((context) => runNow(context, crons)))
    .all(methodNotAllowed('POST'))
  routes
    .route('/api/crons/:cron_id/pause')
    .post(forTeam((context) => setActive(context, cronEditor, false)))
    .all(methodNotAllowed('POST'))
  routes
    .route('/api/crons/:cron_id/resume')
    .post(forTeam((context) => setActive(context, cronEditor, true)))
    .all(methodNotAllowed('POST'))
  routes
    .route('/api/crons/:cron_id/runs')
    .get(forTeam((context) => listRuns(context, crons)))
    .all(methodNotAllowed('GET', 'HEAD'))
  return routes
}

type BodyHandler = (context: TeamRequest, parts: CronRouteParts, body: Buffer) => Promise<void> | void

function withBody(context: TeamRequest, parts: CronRouteParts, handle: BodyHandler): void {
  const { request, response } = context
  parts.bodies.read(context, (body) => {
    const run = async (): Promise<void> => handle(context, parts, body)
    return run().catch((fault: unknown) => answerFault(request, response, fault, parts.logger))
  })
}

async function create(context: TeamRequest, parts: CronRouteParts, body: Buffer): Promise<void> {
  const { team, request, response } = context
  const idempotencyKey = headerText(request.headers['idempotency-key'])
  const wanted = accepted(context, readNewCron(body, { ...checksOf(context, parts), idempotencyKey }))
  if (wanted === null) return
  const cron = await parts.cronEditor.create(team, wanted.settings, wanted.key)
  if (cron === 'key_used') {
    return answerProblem(response, singleProblem(IDEMPOTENCY_FIELD, alreadyUsed(IDEMPOTENCY_FIELD)))
  }
  answerJson(response, 201, JSON.stringify(toCreatedCron(cron)))
}

async function edit(context: TeamRequest, parts: CronRouteParts, body: Buffer): Promise<void> {
  const change = accepted(context, readCronEdit(body, checksOf(context, parts)))
  if (change === null) return
  const cronId = idOf(context, 'cron_id')
  answerCron(context, cronId === null ? null : await parts.cronEditor.edit(context.team, cronId, change))
}

function preview(context: TeamRequest, { clock }: CronRouteParts, body: Buffer): void {
  const query = accepted(context, readCronPreview(body))
  if (query === null) return
  const schedule = cronScheduleOf(query)
  if ('problem' in schedule) throw new Error(`a checked cron has no schedule: ${schedule.problem}`)
  const ticks = schedule.between(clock.wallMs(), Infinity, query.count)
  const answer = toCronPreview(query, describeCron(schedule.expression), ticks)
  answerJson(context.response, 200, JSON.stringify(answer))
}

async function list({ team, search, response }: TeamRequest, crons: CronRouteParts['crons']): Promise<void> {
  const query = readPageQuery(search)
  if (query.kind === 'invalid') return answerProblem(response, query.problem)
  const page = await crons.list({ team, ...query.value })
  if (page === 'bad_cursor') return answerProblem(response, BAD_CURSOR)
  const body = { crons: page.crons.map(toCronSummary), next_cursor: page.nextCursor }
  answerJson(response, 200, JSON.stringify(body))
}

async function listRuns(context: TeamRequest, crons: CronRouteParts['crons']): Promise<void> {
  const { team, search, response } = context
  const query = readPageQuery(search)
  if (query.kind === 'invalid') return answerProblem(response, query.problem)
  const cronId = idOf(context, 'cron_id')
  const page = cronId === null ? null : await crons.runs({ team, cronId, ...query.value })
  if (page === null) return answerNotFound(response)
  if (page === 'bad_cursor') return answerProblem(response, BAD_CURSOR)
  const body = { runs: page.runs.map(toWireCronRun), next_cursor: page.nextCursor }
  answerJson(response, 200, JSON.stringify(body))
}

async function read(context: TeamRequest, crons: CronRouteParts['crons']): Promise<void> {
  const cronId = idOf(context, 'cron_id')
  answerCron(context, cronId === null ? null : await crons.get(context.team, cronId))
}

async function setActive(context: TeamRequest, editor: CronEditor, isActive: boolean): Promise<void> {
  const cronId = idOf(context, 'cron_id')
  answerCron(context, cronId === null ? null : await editor.edit(context.team, cronId, { isActive }))
}

async function remove(context: TeamRequest, editor: CronEditor): Promise<void> {
  const cronId = idOf(context, 'cron_id')
  const end = cronId === null ? 'not_found' : await editor.remove(context.team, cronId)
  if (end === 'removed') context.response.writeHead(204).end()
  else answerNotFound(context.response)
}

async function runNow(context: TeamRequest, crons: CronRouteParts['crons']): Promise<void> {
  const { team, response } = context
  const cronId = idOf(context, 'cron_id')
  const end = cronId === null ? ({ status: 'not_found' } as const) : await crons.runNow(team, cronId)
  switch (end.status) {
    case 'started': {
      const body = {
        cron_id: cronId,
        job_id: end.jobId,
        scheduled_at: formatTimestamp(end.scheduledAtMs),
      }
      return answerJson(response, 201, JSON.stringify(body))
    }
    case 'still_running':
      return answerError(response, 409, `Job ${end.jobId}, a run of this cron, has not ended`)
    case 'not_found':
      return answerNotFound(response)
  }
}

/** null when the body was refused, then 400 or 422 has been answered. */
function accepted<T>({ response }: TeamRequest, result: BodyResult<T>): T | null {
  if (result.kind === 'valid') return result.value
  if (result.kind === 'malformed') answerError(response, 400, result.error)
  else answerProblem(response, result.problem)
  return null
}

function checksOf({ team }: TeamRequest, { egress, teamSettings }: CronRouteParts): CronContext {
  const settings = teamSettings.of(team)
  return { isBlocked: (url) => egress.refusalOf(url, settings) !== null }
}

function answerCron({ response }: TeamRequest, cron: Cron | null): void {
  if (cron === null) answerNotFound(response)
  else answerJson(response, 200, JSON.stringify(toWireCron(cron)))
}
