import type { ServerResponse } from 'node:http'
import type { BodyResult } from '../../contract/fields/json-body.ts'
import { singleProblem } from '../../contract/fields/field-errors.ts'
import { required } from '../../contract/fields/validation-texts.ts'
import { fingerprintOf, keyOfHeader } from '../../contract/fields/idempotency-key.ts'
import { type JobChange, readJobChange } from '../../contract/requests/pushes/push-request.ts'
import { writeJob } from '../../contract/responses/job-wire.ts'
import { shownChain } from '../../domain/access/masking.ts'
import { sightOf } from '../access/sight.ts'
import { mayUseQueue } from '../../domain/access/principal.ts'
import { copyRequest, type RequestChange } from '../../domain/jobs/job-copy.ts'
import type { JobIds } from '../../domain/jobs/job-ids.ts'
import type { JobChain, LostField } from '../../domain/jobs/job.ts'
import type { TeamQuotas } from '../../domain/quotas.ts'
import type { EgressPolicy } from '../../ports/http-caller.ts'
import type { JobIntake, JobStore, NewJob, RemadeJob } from '../../ports/jobs.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { TeamSettingsSource } from '../../ports/settings.ts'
import {
  answerError,
  answerJson,
  answerNotFound,
  answerOtherQueues,
  answerProblem,
  forbiddenText,
} from '../answers.ts'
import { type BodyReader, headerText } from '../body-reader.ts'
import { copyChangeOf } from '../pushes/copied-headers.ts'
import { callDepthOf } from '../pushes/call-depth.ts'
import {
  answerPush,
  answerRefusal,
  drainingRefusal,
  quotaRefusal,
  scheduledFields,
} from '../pushes/push-answers.ts'
import { acceptedBody, hasBody, type TeamRequest, withBody } from '../team-routes.ts'

export interface MendingParts {
  readonly jobs: JobStore
  readonly jobIds: JobIds
  readonly intake: JobIntake
  readonly bodies: BodyReader
  readonly egress: EgressPolicy
  readonly teamSettings: TeamSettingsSource
  quotasOf(team: string): TeamQuotas
  readonly clock: Clock
  readonly logger: Logger
}

/** `POST /api/jobs/{job_id}/retry` */
export async function retryJob(context: TeamRequest, parts: MendingParts): Promise<void> {
  const { team, actor, request } = context
  const jobId = idIn(context, parts)
  const made = jobId === null ? null : await parts.jobs.retry(team, jobId, actor, callDepthOf(request))
  answerMade(context, made ?? { status: 'not_found' }, parts)
}

/** `POST /api/jobs/{job_id}/replay`; the body is optional. Whoever changes something makes a job of their own: see `mayPush`. */
export function replayJob(context: TeamRequest, parts: MendingParts): Promise<void> | void {
  const replay = async (change: JobChange): Promise<void> => {
    const jobId = idIn(context, parts)
    const { team, actor, request } = context
    const { values, secrets } = change.headers
    const isSent = change.request.url !== undefined || values !== undefined || secrets !== undefined
    if ((isSent || Object.keys(change.request).length > 0) && !mayPush(context)) return
    const chain = jobId !== null && isSent ? await parts.jobs.get(team, jobId) : null
    const given = chain === null ? change.request : changeOf(context, parts, { chain, change })
    if (given === null) return
    const wanted = { change: given, callDepth: callDepthOf(request) }
    const made = jobId === null ? null : await parts.jobs.replay(team, jobId, actor, wanted)
    answerMade(context, made ?? { status: 'not_found' }, parts)
  }
  return withChange(context, parts, 'replay', replay)
}

/** `POST /api/jobs/{job_id}/duplicate`; the body is optional. */
export function duplicateJob(context: TeamRequest, parts: MendingParts): Promise<void> | void {
  return withChange(context, parts, 'duplicate', (change) => duplicate(context, parts, change))
}

async function duplicate(context: TeamRequest, parts: MendingParts, change: JobChange): Promise<void> {
  const { team, actor, principal, request, response } = context
  const jobId = idIn(context, parts)
  const chain = jobId === null ? null : await parts.jobs.get(team, jobId)
  if (jobId === null || chain === null || writeJob(chain, jobId, parts.jobIds) === null) {
    return answerNotFound(response)
  }
  if (!mayPush(context)) return
  const key = keyOfHeader(headerText(request.headers['idempotency-key']))
  if (typeof key === 'object' && key !== null) return answerProblem(response, key)
  const queue = change.queue ?? chain.queueName
  // A run of a cron without a queue.
  if (queue === '') return answerProblem(response, singleProblem('queue', required('queue')))
  if (!mayUseQueue(principal, queue)) return answerOtherQueues(response)
  const given = changeOf(context, parts, { chain, change })
  if (given === null) return
  const copy = copyRequest(chain, given, callDepthOf(request))
  if (copy.status === 'not_kept') return answerError(response, 409, notKeptText(copy.fields))
  const job: NewJob = {
    team,
    queue,
    request: { ...copy.request, cron: null },
    start: change.start ?? { delaySeconds: 0 },
    idempotency: null,
    duplicate: { of: jobId, actor, changed: Object.keys(given) },
  }
  const keyed =
    key === null
      ? job
      : { ...job, idempotency: { key, fingerprint: fingerprintOf(queue, job.request, job.start) } }
  const result = await parts.intake.push(keyed)
  answerPush(response, result, { quotas: parts.quotasOf(team), nowMs: parts.clock.wallMs() })
}

/** `POST /api/jobs/{job_id}/fire` */
export async function fireJob(context: TeamRequest, parts: MendingParts): Promise<void> {
  const { team, actor, response } = context
  const jobId = idIn(context, parts)
  if (jobId === null) return answerNotFound(response)
  const end = await parts.jobs.fire(team, jobId, actor)
  switch (end.status) {
    case 'fired': {
      const chain = shownChain(end.chain, sightOf(context, parts.teamSettings))
      const body = writeJob(chain, jobId, parts.jobIds)
      return body === null ? answerNotFound(response) : answerJson(response, 200, body)
    }
    case 'due':
      return answerError(response, 409, 'The job is already due and waits for its turn')
    case 'in_flight':
      return answerError(response, 409, 'The job is in flight')
    case 'ended':
      return answerError(response, 409, 'The job has ended')
    case 'damaged':
      return answerError(response, 409, DAMAGED_TEXT)
    case 'not_ended':
      return answerError(response, 409, `The job has failed; its retry is job ${end.jobId}`)
    case 'not_found':
      return answerNotFound(response)
  }
}

/** `POST /api/jobs/{job_id}/cancel` */
export async function cancelJob(context: TeamRequest, parts: MendingParts): Promise<void> {
  const { team, actor, response } = context
  const jobId = idIn(context, parts)
  if (jobId === null) return answerNotFound(response)
  const end = await parts.jobs.cancel(team, jobId, actor)
  switch (end.status) {
    case 'cancelled': {
      const chain = shownChain(end.chain, sightOf(context, parts.teamSettings))
      const body = writeJob(chain, jobId, parts.jobIds)
      return body === null ? answerNotFound(response) : answerJson(response, 200, body)
    }
    case 'sent':
      return answerError(
        response,
        409,
        'The job may already have been sent, and waits for another attempt: delete it instead (DELETE)',
      )
    case 'in_flight':
      return answerError(response, 409, 'The job is in flight')
    case 'ended':
      return answerError(response, 409, 'The job has ended')
    case 'damaged':
      return answerError(response, 409, DAMAGED_TEXT)
    case 'not_ended':
      return answerError(
        response,
        409,
        `The job has been sent and has failed; its retry is job ${end.jobId}, and DELETE removes that with the whole chain`,
      )
    case 'not_found':
      return answerNotFound(response)
  }
}

/** `DELETE /api/jobs/{job_id}` */
export async function removeJob(context: TeamRequest, parts: MendingParts): Promise<void> {
  const { team, actor, principal, response } = context
  const jobId = idIn(context, parts)
  if (jobId === null) return answerNotFound(response)
  const mayPurge = principal.permissions.has('purge')
  const end = await parts.jobs.remove(team, jobId, actor, mayPurge)
  switch (end.status) {
    case 'removed':
      response.writeHead(204).end()
      return
    case 'in_flight':
      return answerError(response, 409, 'The job is in flight and cannot be deleted')
    case 'ended':
      return answerError(response, 403, forbiddenText('purge'))
    case 'not_ended':
      return answerError(
        response,
        409,
        `The chain of the job has not ended: delete its retry, job ${end.jobId}, and the whole chain goes`,
      )
    case 'not_found':
      return answerNotFound(response)
  }
}

/** The change with all headers of the copy; null once it is answered that it cannot be. */
function changeOf(
  { team, response }: TeamRequest,
  { teamSettings }: MendingParts,
  { chain, change }: { readonly chain: JobChain; readonly change: JobChange },
): RequestChange | null {
  const copy = copyChangeOf(chain, change, teamSettings.of(team))
  if (copy.kind === 'change') return copy.change
  if (copy.kind === 'not_kept') answerError(response, 409, notKeptText(['headers']))
  else answerProblem(response, copy.problem)
  return null
}

/** `operate` alone may rerun jobs but not change what is sent. Answers 403 and returns false without `push`. */
function mayPush({ principal, response }: TeamRequest): boolean {
  const may = principal.permissions.has('push')
  if (!may) answerError(response, 403, forbiddenText('push'))
  return may
}

const DAMAGED_TEXT = 'The record of the job is damaged'

function idIn({ parameter }: TeamRequest, { jobIds }: MendingParts): number | null {
  return jobIds.parse(parameter('job_id'))
}

/** Reads an optional body of fields that differ. */
function withChange(
  context: TeamRequest,
  parts: MendingParts,
  kind: 'replay' | 'duplicate',
  handle: (change: JobChange) => Promise<void>,
): Promise<void> | void {
  if (!hasBody(context))
    return handle({ request: {}, headers: { values: undefined, secrets: undefined, contentType: null } })
  const settings = parts.teamSettings.of(context.team)
  withBody(context, parts, async (body) => {
    const read: BodyResult<JobChange> = readJobChange(body, kind, {
      nowMs: parts.clock.wallMs(),
      isBlocked: (url) => parts.egress.refusalOf(url, settings) !== null,
      headerSecrets: settings.headerSecrets,
    })
    const change = acceptedBody(context, read)
    if (change === null) return
    // The target would get to see what the caller may not.
    const isElsewhere = change.request.url !== undefined && !context.principal.permissions.has('payloads')
    if (isElsewhere) return answerError(context.response, 403, forbiddenText('payloads'))
    await handle(change)
  })
}

function answerMade({ team, response }: TeamRequest, made: RemadeJob, parts: MendingParts): void {
  switch (made.status) {
    case 'made':
      return answerJson(response, 201, `{${scheduledFields(made)}}`)
    case 'over_quota': {
      const now = { quotas: parts.quotasOf(team), nowMs: parts.clock.wallMs() }
      return answerRefusal(response, quotaRefusal(made.quota, now))
    }
    case 'queue_draining':
      return answerRefusal(response, drainingRefusal(made.queue))
    case 'not_found':
      return answerNotFound(response)
    default:
      return answerConflict(response, made)
  }
}

function answerConflict(response: ServerResponse, made: RemadeJob): void {
  switch (made.status) {
    case 'already_made':
      return answerError(response, 409, `The job was already retried or replayed, as job ${made.jobId}`)
    case 'damaged':
      return answerError(response, 409, DAMAGED_TEXT)
    case 'not_dead_lettered':
      return answerError(response, 409, 'The job is not in the dead-letter queue')
    case 'not_failed':
      return answerError(response, 409, 'The job has succeeded; it can be duplicated')
    case 'not_ended':
      return answerError(response, 409, `The chain of the job has not ended; its open job is ${made.jobId}`)
    case 'not_kept':
      return answerError(response, 409, notKeptText(made.fields))
    default:
      return answerNotFound(response)
  }
}

function notKeptText(fields: readonly LostField[]): string {
  const names = fields.join(' and ')
  const given = fields.length === 1 ? 'it' : 'them'
  return `The ${names} of the job ${fields.length === 1 && fields[0] === 'payload' ? 'is' : 'are'} no longer kept; duplicate the job and give ${given} in the body`
}
