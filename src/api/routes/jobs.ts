import type { RequestListener } from 'node:http'
import type { Router } from 'express'
import { readJobQuery, TOO_MANY_TO_ORDER } from '../../contract/requests/job-list-query.ts'
import { readDeadLetterQuery } from '../../contract/requests/job-query.ts'
import { BAD_CURSOR } from '../../contract/requests/list-query.ts'
import { deadLetterGroupsOf } from '../../contract/responses/lists/dead-letter-wire.ts'
import { jobListOf, writeJob } from '../../contract/responses/job-wire.ts'
import { shownChain } from '../../domain/access/masking.ts'
import { sightOf } from '../access/sight.ts'
import type { JobOrder } from '../../domain/jobs/job-filter.ts'
import { usualOrder } from '../../domain/jobs/job-match.ts'
import type { WaitExplainer } from '../../ports/jobs.ts'
import { answerError, answerJson, answerNotFound, answerProblem, forbiddenText } from '../answers.ts'
import { answerTooCostly, untilGone } from '../bounds/costly-work.ts'
import { answerList, createTeamRouter, needsInQueues, type TeamRequest } from '../team-routes.ts'
import {
  cancelJob,
  duplicateJob,
  fireJob,
  removeJob,
  replayJob,
  retryJob,
  type MendingParts,
} from './mending.ts'

export interface JobRouteParts extends MendingParts {
  readonly waits: WaitExplainer
}

export interface HotRoutes {
  readonly push: RequestListener
  readonly batch: RequestListener
}

/** @param hot for requests whose URL is not spelled exactly as the hot routes expect it */
export function createJobRoutes(parts: JobRouteParts, hot: HotRoutes): Router {
  return createTeamRouter({
    '/api/jobs': {
      GET: needsInQueues('read', (context) => list(context, parts)),
      POST: needsInQueues('push', ({ request, response }) => hot.push(request, response)),
    },
    '/api/jobs/batch': {
      POST: needsInQueues('push', ({ request, response }) => hot.batch(request, response)),
    },
    '/api/jobs/dead-letter-groups': {
      GET: needsInQueues('read', (context) => listDeadLetterGroups(context, parts)),
    },
    '/api/jobs/:job_id': {
      GET: needsInQueues('read', (context) => read(context, parts)),
      DELETE: needsInQueues('operate', (context) => removeJob(context, parts)),
    },
    '/api/jobs/:job_id/retry': { POST: needsInQueues('operate', (context) => retryJob(context, parts)) },
    '/api/jobs/:job_id/cancel': { POST: needsInQueues('operate', (context) => cancelJob(context, parts)) },
    '/api/jobs/:job_id/fire': { POST: needsInQueues('operate', (context) => fireJob(context, parts)) },
    '/api/jobs/:job_id/replay': { POST: needsInQueues('operate', (context) => replayJob(context, parts)) },
    '/api/jobs/:job_id/duplicate': {
      POST: needsInQueues('operate', (context) => duplicateJob(context, parts)),
    },
  })
}

async function list(
  context: TeamRequest,
  { jobs, jobIds, clock, teamSettings }: JobRouteParts,
): Promise<void> {
  const { team, principal, search, response } = context
  const query = readJobQuery(search, clock.wallMs())
  if (query.kind === 'invalid') return answerProblem(response, query.problem)
  // What matches would tell what a payload holds.
  if (query.value.filter.text !== null && !principal.permissions.has('payloads')) {
    return answerError(response, 403, forbiddenText('payloads'))
  }
  const { filter, order, limit, cursor } = query.value
  const asked = { team, queues: principal.queues, filter, limit, cursor }
  const usual = order ?? (cursor === null ? usualOrder(filter) : null)
  const listIn = (by: JobOrder | null) =>
    untilGone(response, (signal) => jobs.list({ ...asked, ...(by !== null && { order: by }), signal }))
  const first = await listIn(usual)
  // Without a wish for an order, a team of so many queues has its list by their names.
  const page =
    first === 'too_many_queues' && order === null && cursor === null ? await listIn('queue') : first
  if (page === 'bad_cursor') return answerProblem(response, BAD_CURSOR)
  if (page === 'too_many_queues') return answerProblem(response, TOO_MANY_TO_ORDER)
  if (page === 'too_many_searches') return answerTooCostly(response)
  const sight = sightOf(context, teamSettings)
  const written = jobListOf(page, jobIds, (chain) => shownChain(chain, sight))
  await answerList(context, written, query.spansFromMs)
}

async function listDeadLetterGroups(context: TeamRequest, { jobs, clock }: JobRouteParts): Promise<void> {
  const { team, principal, search, response } = context
  const query = readDeadLetterQuery(search, clock.wallMs())
  if (query.kind === 'invalid') return answerProblem(response, query.problem)
  const page = await untilGone(response, (signal) =>
    jobs.deadLetterGroups({ team, queues: principal.queues, ...query.value, signal }),
  )
  if (page === 'bad_cursor') return answerProblem(response, BAD_CURSOR)
  if (page === 'too_many_searches') return answerTooCostly(response)
  await answerList(context, deadLetterGroupsOf(page), query.spansFromMs)
}

async function read(
  context: TeamRequest,
  { jobs, waits, jobIds, teamSettings }: JobRouteParts,
): Promise<void> {
  const { team, parameter, response } = context
  const jobId = jobIds.parse(parameter('job_id'))
  const chain = jobId === null ? null : await jobs.get(team, jobId)
  if (jobId === null || chain === null) return answerNotFound(response)
  // Only the open job of a chain can wait.
  const isPending = chain.open?.status === 'pending' && chain.open.attempt === jobIds.attemptOf(jobId)
  const waiting = isPending ? await waits.explain(team, jobId) : null
  const shown = shownChain(chain, sightOf(context, teamSettings))
  const body = writeJob(shown, jobId, jobIds, waiting)
  if (body === null) answerNotFound(response)
  else answerJson(response, 200, body)
}
