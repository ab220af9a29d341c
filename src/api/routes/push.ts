import type { RequestListener, ServerResponse } from 'node:http'
import { IDEMPOTENCY_CONFLICT } from '../../contract/requests/idempotency-key.ts'
import { readPush } from '../../contract/requests/push-request.ts'
import {
  OVER_SHARE_TEXT,
  overQuotaText,
  QUOTA_RETRY_AFTER_SECONDS,
  quotaRetryAfterSeconds,
  type TeamQuotas,
} from '../../domain/quotas.ts'
import { mayUseQueue, type Principal } from '../../domain/access/principal.ts'
import { formatTimestamp } from '../../domain/timestamp.ts'
import type { EgressPolicy } from '../../ports/http-caller.ts'
import type { JobIntake, PushResult } from '../../ports/jobs.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { TeamSettingsSource } from '../../ports/settings.ts'
import {
  answerError,
  answerFault,
  answerJson,
  answerOtherQueues,
  answerProblem,
  answerRetryLater,
} from '../answers.ts'
import type { Authenticator } from '../authenticator.ts'
import { type BodyReader, headerText, type TeamExchange } from '../body-reader.ts'
import type { Exchange } from '../request-rejector.ts'

export interface PushRouteParts {
  readonly intake: JobIntake
  readonly authenticator: Authenticator
  readonly bodies: BodyReader
  readonly egress: EgressPolicy
  readonly teamSettings: TeamSettingsSource
  quotasOf(team: string): TeamQuotas
  readonly clock: Clock
  readonly logger: Logger
}

interface PushExchange extends TeamExchange {
  readonly principal: Principal
}

/**
 * `POST /api/jobs`, the hot route, on plain node:http. Requests are refused in this order: 401, 403, 413, 415, 429 or 503
 * when too many bytes arrive at once, 400, 422.
 */
export function createPushRoute(parts: PushRouteParts): RequestListener {
  const { intake, authenticator, bodies, egress, teamSettings, clock, logger } = parts

  const push = (
    body: Buffer,
    { team, principal, request, response }: PushExchange,
  ): Promise<void> | undefined => {
    const settings = teamSettings.of(team)
    const read = readPush(body, {
      idempotencyKey: headerText(request.headers['idempotency-key']),
      nowMs: clock.wallMs(),
      isBlocked: (url) => egress.refusalOf(url, settings) !== null,
    })
    if (read.kind === 'valid') {
      if (!mayUseQueue(principal, read.value.queue)) {
        answerOtherQueues(response)
        return undefined
      }
      return intake.push({ ...read.value, team }).then(
        (result) => answerPush(response, result, { quotas: parts.quotasOf(team), nowMs: clock.wallMs() }),
        (fault: unknown) => answerFault(request, response, fault, logger),
      )
    }
    if (read.kind === 'malformed') answerError(response, 400, read.error)
    else answerProblem(response, read.problem)
    return undefined
  }

  const start = (principal: Principal | null, { request, response }: Exchange): void => {
    if (principal === null) return
    const exchange = { team: principal.team, principal, request, response }
    bodies.read(exchange, (body) => {
      try {
        return push(body, exchange)
      } catch (fault) {
        answerFault(request, response, fault, logger)
        return undefined
      }
    })
  }

  return (request, response) => {
    const exchange = { request, response }
    const found = authenticator.principalWith('push', exchange)
    if (!(found instanceof Promise)) return start(found, exchange)
    found
      .then((principal) => start(principal, exchange))
      .catch((fault: unknown) => answerFault(request, response, fault, logger))
  }
}

interface QuotasNow {
  readonly quotas: TeamQuotas
  readonly nowMs: number
}

function answerPush(response: ServerResponse, result: PushResult, { quotas, nowMs }: QuotasNow): void {
  switch (result.status) {
    case 'created':
    case 'repeated':
      return answerJson(response, 201, scheduledBody(result))
    case 'idempotency_conflict':
      return answerProblem(response, IDEMPOTENCY_CONFLICT)
    case 'idempotency_full':
      return answerShardFull(response, 'idempotency key')
    case 'too_many_queues':
      return answerShardFull(response, 'queue')
    case 'over_quota': {
      const { quota } = result
      const text = quota === 'share' ? OVER_SHARE_TEXT : overQuotaText(quota, quotas[quota])
      return answerRetryLater(response, 429, text, quotaRetryAfterSeconds(quota, nowMs))
    }
  }
}

function answerShardFull(response: ServerResponse, what: string): void {
  answerRetryLater(response, 429, `The ${what} limit of this shard is reached`, QUOTA_RETRY_AFTER_SECONDS)
}

/** The body of a 201. Written by hand: none of its values needs escaping. */
export function scheduledBody(job: { queueId: number; jobId: number; scheduledAtMs: number }): string {
  return `{"success":true,"queue_id":${job.queueId},"job_id":${job.jobId},"scheduled_at":"${formatTimestamp(
    job.scheduledAtMs,
  )}","message":"Scheduled successfully"}`
}
