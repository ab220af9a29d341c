import type { RequestListener } from 'node:http'
import type { Router } from 'express'
import { readJobQuery } from '../../contract/requests/job-query.ts'
import { BAD_CURSOR } from '../../contract/requests/list-query.ts'
import { writeJob, writeJobList } from '../../contract/responses/job-wire.ts'
import { maskedChain } from '../../domain/access/masking.ts'
import type { JobIds } from '../../domain/jobs/job-ids.ts'
import type { JobStore } from '../../ports/jobs.ts'
import {
  answerError,
  answerJson,
  answerNotFound,
  answerProblem,
  answerRetryLater,
  forbiddenText,
} from '../answers.ts'
import { createTeamRouter, needsInQueues, type TeamRequest } from '../team-routes.ts'
import { scheduledBody } from './push.ts'

export interface JobRouteParts {
  readonly jobs: JobStore
  readonly jobIds: JobIds
}

/** @param push for requests whose URL is not spelled exactly as the hot route expects it */
export function createJobRoutes(parts: JobRouteParts, push: RequestListener): Router {
  return createTeamRouter({
    '/api/jobs': {
      GET: needsInQueues('read', (context) => list(context, parts)),
      POST: needsInQueues('push', ({ request, response }) => push(request, response)),
    },
    '/api/jobs/:job_id': {
      GET: needsInQueues('read', (context) => read(context, parts)),
      DELETE: needsInQueues('operate', (context) => cancel(context, parts)),
    },
    '/api/jobs/:job_id/replay': { POST: needsInQueues('operate', (context) => replay(context, parts)) },
  })
}

async function list(context: TeamRequest, { jobs, jobIds }: JobRouteParts): Promise<void> {
  const { team, principal, search, response } = context
  const query = readJobQuery(search)
  if (query.kind === 'invalid') return answerProblem(response, query.problem)
  // What matches would tell what a payload holds.
  if (query.value.filter.text !== null && !principal.permissions.has('payloads')) {
    return answerError(response, 403, forbiddenText('payloads'))
  }
  const page = await jobs.list({ team, queues: principal.queues, ...query.value })
  if (page === 'bad_cursor') return answerProblem(response, BAD_CURSOR)
  if (page === 'too_many_searches') {
    return answerRetryLater(response, 429, 'Too many searches at once, try again')
  }
  answerJson(response, 200, writeJobList(page, jobIds))
}

async function read(context: TeamRequest, { jobs, jobIds }: JobRouteParts): Promise<void> {
  const { team, principal, parameter, response } = context
  const jobId = jobIds.parse(parameter('job_id'))
  const chain = jobId === null ? null : await jobs.get(team, jobId)
  const isMasked = !principal.permissions.has('payloads')
  const body =
    jobId === null || chain === null ? null : writeJob(isMasked ? maskedChain(chain) : chain, jobId, jobIds)
  if (body === null) answerNotFound(response)
  else answerJson(response, 200, body)
}

async function cancel(context: TeamRequest, { jobs, jobIds }: JobRouteParts): Promise<void> {
  const { team, actor, parameter, response } = context
  const jobId = jobIds.parse(parameter('job_id'))
  const end = jobId === null ? 'not_found' : await jobs.cancel(team, jobId, actor)
  switch (end) {
    case 'cancelled':
      response.writeHead(204).end()
      return
    case 'in_flight':
      return answerError(response, 409, 'The job is in flight and cannot be cancelled')
    case 'ended':
      return answerError(response, 409, 'The job has ended and cannot be cancelled')
    case 'not_found':
      return answerNotFound(response)
  }
}

async function replay(context: TeamRequest, { jobs, jobIds }: JobRouteParts): Promise<void> {
  const { team, actor, parameter, response } = context
  const jobId = jobIds.parse(parameter('job_id'))
  const end = jobId === null ? ({ status: 'not_found' } as const) : await jobs.replay(team, jobId, actor)
  switch (end.status) {
    case 'replayed':
      return answerJson(response, 201, scheduledBody(end))
    case 'already_replayed':
      return answerError(response, 409, `The job was already replayed as job ${end.jobId}`)
    case 'damaged':
      return answerError(response, 409, 'The record of the job is damaged and cannot be replayed')
    case 'not_dead_lettered':
      return answerError(response, 409, 'The job is not in the dead-letter queue')
    case 'not_found':
      return answerNotFound(response)
  }
}
