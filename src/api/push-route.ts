import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { singleProblem } from '../contract/field-errors.ts'
import { IDEMPOTENCY_FIELD } from '../contract/idempotency-key.ts'
import { readPush } from '../contract/push-request.ts'
import { alreadyUsed } from '../contract/validation-texts.ts'
import { formatTimestamp } from '../domain/timestamp.ts'
import type { Clock } from '../ports/clock.ts'
import type { EgressPolicy } from '../ports/http-caller.ts'
import type { JobIntake, PushResult } from '../ports/job-intake.ts'
import type { Logger } from '../ports/logger.ts'
import type { TeamSettingsSource, TokenVerifier } from '../ports/team-settings.ts'
import { answerError, answerFault, answerJson, answerProblem, answerRetryLater } from './answers.ts'
import { authenticate } from './authentication.ts'
import { discardBody, headerText, readJsonRequest } from './request-body.ts'

/** Bytes of bodies that wait for the store, per process: 1 MiB bodies must not fill the memory. */
const WAITING_BYTES_MAX = 256 * 1024 * 1024
/** What a full shard tells the client to wait: neither keys nor queues go away within seconds. */
const FULL_RETRY_AFTER_SECONDS = 60

export interface PushRouteParts {
  readonly intake: JobIntake
  readonly tokens: TokenVerifier
  readonly egress: EgressPolicy
  readonly teamSettings: TeamSettingsSource
  readonly clock: Clock
  readonly logger: Logger
  /** Bytes of bodies that may wait for the store; 256 MiB unless given. */
  readonly waitingBytesMax?: number
}

/**
 * `POST /api/jobs` on plain node:http, as it is the route that is hot. Order of refusal: 401, 413, 415, 503 when
 * too much waits, 400, 422.
 */
export function createPushRoute(parts: PushRouteParts): RequestListener {
  const { intake, tokens, egress, teamSettings, clock, logger, waitingBytesMax = WAITING_BYTES_MAX } = parts
  let waitingBytes = 0

  const push = (team: string, body: Buffer, request: IncomingMessage, response: ServerResponse): void => {
    const settings = teamSettings.of(team)
    const read = readPush(body, {
      idempotencyKey: headerText(request.headers['idempotency-key']),
      nowMs: clock.wallMs(),
      isBlocked: (url) => egress.refusalOf(url, settings) !== null,
    })
    if (read.kind === 'malformed') return answerError(response, 400, read.error)
    if (read.kind === 'invalid') return answerProblem(response, read.problem)
    waitingBytes += body.length
    intake.push({ ...read.value, team }).then(
      (result) => {
        waitingBytes -= body.length
        answerPush(response, result)
      },
      (fault: unknown) => {
        waitingBytes -= body.length
        answerFault(request, response, fault, logger)
      },
    )
  }

  return (request, response) => {
    const team = authenticate(request, response, tokens)
    if (team === null) return discardBody(request)
    readJsonRequest(request, response, (body) => {
      if (waitingBytes + body.length > waitingBytesMax) {
        return answerRetryLater(response, 503, 'Too many pushes are waiting, try again')
      }
      try {
        push(team, body, request, response)
      } catch (fault) {
        answerFault(request, response, fault, logger)
      }
    })
  }
}

function answerPush(response: ServerResponse, result: PushResult): void {
  switch (result.status) {
    case 'created':
    case 'repeated':
      return answerJson(response, 201, scheduledBody(result))
    case 'idempotency_conflict':
      return answerProblem(response, singleProblem(IDEMPOTENCY_FIELD, alreadyUsed(IDEMPOTENCY_FIELD)))
    case 'idempotency_full':
      return answerRetryLater(response, 429, 'Too many idempotency keys in use', FULL_RETRY_AFTER_SECONDS)
    case 'too_many_queues':
      return answerRetryLater(response, 429, 'Too many queues', FULL_RETRY_AFTER_SECONDS)
  }
}

/** The body of a 201. Written by hand: none of its values needs escaping. */
export function scheduledBody(job: { queueId: number; jobId: number; scheduledAtMs: number }): string {
  return `{"success":true,"queue_id":${job.queueId},"job_id":${job.jobId},"scheduled_at":"${formatTimestamp(
    job.scheduledAtMs,
  )}","message":"Scheduled successfully"}`
}
