import type { ServerResponse } from 'node:http'
import type { RequestBody } from '../../contract/fields/json-body.ts'
import type { Router } from 'express'
import { readBulk } from '../../contract/requests/bulk/bulk-request.ts'
import { readPageQuery } from '../../contract/requests/list-query.ts'
import { toWireBulk, toWireBulkWithFailures, toWirePreview } from '../../contract/responses/bulk-wire.ts'
import { maskedFilter } from '../../domain/access/masking.ts'
import type { Permission } from '../../domain/access/permission.ts'
import type { Bulk, BulkAction, BulkOrder } from '../../domain/bulk/bulk.ts'
import { ANY_JOB, type JobFilter } from '../../domain/jobs/job-filter.ts'
import type { JobIds } from '../../domain/jobs/job-ids.ts'
import { BULKS_RUNNING_PER_TEAM_MAX } from '../../domain/limits.ts'
import type { BulkStore } from '../../ports/bulk/bulk.ts'
import type { QueueStore } from '../../ports/queues.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import { answerError, answerJson, answerNotFound, answerRetryLater, forbiddenText } from '../answers.ts'
import type { BodyReader } from '../body-reader.ts'
import { answerTooCostly, untilGone } from '../bounds/costly-work.ts'
import { callDepthOf } from '../pushes/call-depth.ts'
import {
  acceptedBody,
  answerPage,
  createTeamRouter,
  needs,
  type TeamRequest,
  withBody,
  withId,
} from '../team-routes.ts'

export interface BulkRouteParts {
  readonly bulks: BulkStore
  readonly queues: Pick<QueueStore, 'get'>
  readonly jobIds: JobIds
  readonly bodies: BodyReader
  readonly logger: Logger
  readonly clock: Pick<Clock, 'wallMs'>
}

/** Actions that cannot be undone: they need `purge` in addition to `operate`. */
const REMOVING: ReadonlySet<BulkAction> = new Set(['delete', 'purge'])

export function createBulkRoutes(parts: BulkRouteParts): Router {
  const { bulks } = parts
  return createTeamRouter({
    '/api/bulk': {
      GET: needs('read', (context) => list(context, bulks)),
      POST: needs('operate', (context) => withBody(context, parts, (body) => create(context, parts, body))),
    },
    '/api/bulk/:bulk_id': { GET: needs('read', (context) => read(context, bulks)) },
    '/api/bulk/:bulk_id/abort': { POST: needs('operate', (context) => abort(context, bulks)) },
    '/api/bulk/:bulk_id/resume': { POST: needs('operate', (context) => resume(context, bulks)) },
    '/api/queues/:queue_id/purge': {
      POST: needs('purge', (context) => purge(context, parts)),
    },
  })
}

async function create(context: TeamRequest, parts: BulkRouteParts, body: RequestBody): Promise<void> {
  const { team, principal, response } = context
  const wanted = acceptedBody(context, readBulk(body, parts.jobIds, parts.clock.wallMs()))
  if (wanted === null) return
  const { isDryRun, ...order } = wanted
  const missing = permissionsOf(order.action, filterOf(order)).find(
    (permission) => !principal.permissions.has(permission),
  )
  if (missing !== undefined) return answerError(response, 403, forbiddenText(missing))
  if (isDryRun) {
    const preview = await untilGone(response, (signal) => parts.bulks.preview(team, order, signal))
    if (preview === 'too_many_searches') return answerTooCostly(response)
    return answerJson(response, 200, JSON.stringify(toWirePreview(preview)))
  }
  await start(context, parts.bulks, order)
}

/** A search for text would tell of payloads. */
function permissionsOf(action: BulkAction, filter: JobFilter | null): Permission[] {
  const isForText = filter !== null && filter.text !== null
  return [REMOVING.has(action) ? 'purge' : 'operate', ...(isForText ? (['payloads'] as const) : [])]
}

function filterOf({ target }: BulkOrder): JobFilter | null {
  return target.kind === 'filter' ? target.filter : null
}

async function purge(context: TeamRequest, parts: BulkRouteParts): Promise<void> {
  const queue = await withId(context, 'queue_id', (id) => parts.queues.get(context.team, id))
  if (queue === null) return answerNotFound(context.response)
  const filter = { ...ANY_JOB, queue: queue.name, status: 'dead_lettered' } as const
  await start(context, parts.bulks, {
    action: 'purge',
    target: { kind: 'filter', filter },
    ratePerSecond: null,
  })
}

async function start(context: TeamRequest, bulks: BulkStore, order: BulkOrder): Promise<void> {
  const { team, actor, request, response } = context
  const bulk = await bulks.create(team, { ...order, callDepth: callDepthOf(request) }, actor)
  if (bulk === 'too_many') return answerTooMany(response)
  answerJson(response, 202, JSON.stringify(toWireBulk(bulk)))
}

function answerTooMany(response: ServerResponse): void {
  answerRetryLater(response, 429, `At most ${BULKS_RUNNING_PER_TEAM_MAX} bulks run at once`)
}

function list(context: TeamRequest, bulks: BulkStore): Promise<void> {
  return answerPage(
    context,
    readPageQuery(context.search),
    (query) => bulks.list({ team: context.team, ...query }),
    (page) => ({
      field: 'bulks',
      rows: page.bulks,
      toWire: (bulk: Bulk) => toWireBulk(shownTo(context, bulk)),
      rest: { next_cursor: page.nextCursor },
    }),
  )
}

async function read(context: TeamRequest, bulks: BulkStore): Promise<void> {
  const { team, response } = context
  const bulk = await withId(context, 'bulk_id', (id) => bulks.get(team, id))
  if (bulk === null) return answerNotFound(response)
  const failures = bulk.failed === 0 ? [] : await bulks.failures(team, bulk.id)
  answerJson(response, 200, JSON.stringify(toWireBulkWithFailures(shownTo(context, bulk), failures)))
}

async function abort(context: TeamRequest, bulks: BulkStore): Promise<void> {
  const { team, actor, response } = context
  const bulk = await withId(context, 'bulk_id', (id) => bulks.abort(team, id, actor))
  if (bulk === null) answerNotFound(response)
  else if (bulk === 'ended') answerError(response, 409, 'The bulk has ended')
  else answerJson(response, 200, JSON.stringify(toWireBulk(shownTo(context, bulk))))
}

/** What a bulk does needs the same permissions when it goes on as when it began. */
async function resume(context: TeamRequest, bulks: BulkStore): Promise<void> {
  const { team, actor, principal, response } = context
  const known = await withId(context, 'bulk_id', (id) => bulks.get(team, id))
  if (known === null) return answerNotFound(response)
  const missing = permissionsOf(known.action, known.filter).find((one) => !principal.permissions.has(one))
  if (missing !== undefined) return answerError(response, 403, forbiddenText(missing))
  const bulk = await bulks.resume(team, known.id, actor)
  if (bulk === null) answerNotFound(response)
  else if (bulk === 'too_many') answerTooMany(response)
  else if (bulk === 'done') answerError(response, 409, 'The bulk is done: it has no jobs left')
  else if (bulk === 'not_ended') answerError(response, 409, 'The bulk is under way')
  else answerJson(response, 200, JSON.stringify(toWireBulk(shownTo(context, bulk))))
}

function shownTo({ principal }: TeamRequest, bulk: Bulk): Bulk {
  const { filter } = bulk
  if (filter === null || principal.permissions.has('payloads')) return bulk
  return { ...bulk, filter: maskedFilter(filter) }
}
