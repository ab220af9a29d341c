import type { RequestListener } from 'node:http'
import { Router } from 'express'
import { writeJob, writeJobList } from '../../contract/responses/job-wire.ts'
import { BAD_CURSOR, readJobFilter } from '../../contract/requests/list-query.ts'
import type { JobIds } from '../../domain/jobs/job-ids.ts'
import type { JobStore } from '../../ports/jobs.ts'
import { answerError, answerJson, answerNotFound, answerProblem } from '../answers.ts'
import { scheduledBody } from '../push-route.ts'
import { forTeam, methodNotAllowed, type TeamRequest } from '../route-handler.ts'

export interface JobRouteParts {
  readonly jobs: JobStore
  readonly jobIds: JobIds
}

/** @param push the hot route, for the requests whose URL does not look like the hot one */
export function createJobRoutes({ jobs, jobIds }: JobRouteParts, push: RequestListener): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  routes
    .route('/api/jobs')
    .get(forTeam((context) => list(context, jobs, jobIds)))
    .post((request, response) => push(request, response))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'))
  routes
    .route('/api/jobs/:job_id')
    .get(forTeam((context) => read(context, jobs, jobIds)))
    .delete(forTeam((context) => cancel(context, jobs, jobIds)))
    .all(methodNotAllowed('GET', 'HEAD', 'DELETE'))
  routes
    .route('/api/jobs/:job_id/replay')
    .post(forTeam((context) => replay(context, jobs, jobIds)))
    .all(methodNotAllowed('POST'))
  return routes
}

async function list({ team, search, response }: TeamRequest, jobs: JobStore, jobIds: JobIds): Promise<void> {
  const query = readJobFilter(search)
  if (query.kind === 'invalid') return answerProblem(response, query.problem)
  const page = await jobs.list({ team, ...query.value })
  if (page === 'bad_cursor') return answerProblem(response, BAD_CURSOR)
  answerJson(response, 200, writeJobList(page.jobs, page.nextCursor, jobIds))
}

async function read(
  { team, parameter, response }: TeamRequest,
  jobs: JobStore,
  jobIds: JobIds,
): Promise<void> {
  const jobId = jobIds.parse(parameter('job_id'))
  const chain = jobId === null ? null : await jobs.get(team, jobId)
  const body = jobId === null || chain === null ? null : writeJob(chain, jobId, jobIds)
  if (body === null) answerNotFound(response)
  else answerJson(response, 200, body)
}

async function cancel(
  { team, parameter, response }: TeamRequest,
  jobs: JobStore,
  jobIds: JobIds,
): Promise<void> {
  const jobId = jobIds.parse(parameter('job_id'))
  const end = jobId === null ? 'not_found' : await jobs.cancel(team, jobId)
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

async function replay(
  { team, parameter, response }: TeamRequest,
  jobs: JobStore,
  jobIds: JobIds,
): Promise<void> {
  const jobId = jobIds.parse(parameter('job_id'))
  const end = jobId === null ? ({ status: 'not_found' } as const) : await jobs.replay(team, jobId)
  switch (end.status) {
    case 'replayed':
      return answerJson(response, 201, scheduledBody(end))
    case 'already_replayed':
      return answerError(response, 409, `The job was already replayed as job ${end.jobId}`)
    case 'damaged':
      return answerError(response, 409, 'What is stored of the job is damaged and cannot be replayed')
    case 'not_dead_lettered':
      return answerError(response, 409, 'The job is not in the dead-letter queue')
    case 'not_found':
      return answerNotFound(response)
  }
}
