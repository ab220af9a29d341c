import type { ServerResponse } from 'node:http'
import type { ValidationProblem } from '../../contract/fields/field-errors.ts'
import { IDEMPOTENCY_CONFLICT } from '../../contract/fields/idempotency-key.ts'
import {
  OVER_SHARE_TEXT,
  overQuotaText,
  QUOTA_RETRY_AFTER_SECONDS,
  quotaRetryAfterSeconds,
  type TeamQuotas,
} from '../../domain/quotas.ts'
import { formatTimestamp } from '../../domain/timestamp.ts'
import type { PushResult } from '../../ports/jobs.ts'
import type { MetQuota } from '../../ports/quotas.ts'
import { answerError, answerJson, answerProblem, answerRetryLater } from '../answers.ts'

export interface QuotasNow {
  readonly quotas: TeamQuotas
  readonly nowMs: number
}

/** Why no job was made. */
export type PushRefusal =
  | { readonly status: 422; readonly problem: ValidationProblem }
  | { readonly status: 409; readonly error: string }
  | { readonly status: 429 | 503; readonly error: string; readonly retryAfterSeconds: number }

/** null when there is a job, made by this push or an earlier one. */
export function pushRefusal(result: PushResult, now: QuotasNow): PushRefusal | null {
  switch (result.status) {
    case 'created':
    case 'repeated':
      return null
    case 'idempotency_conflict':
      return { status: 422, problem: IDEMPOTENCY_CONFLICT }
    case 'idempotency_full':
      return shardFull('idempotency key')
    case 'too_many_queues':
      return shardFull('queue')
    case 'queue_draining':
      return drainingRefusal(result.queue)
    case 'over_quota':
      return quotaRefusal(result.quota, now)
  }
}

export function drainingRefusal(queue: string): PushRefusal {
  const name = JSON.stringify(queue)
  const error = `The queue ${name} is draining and takes no new jobs; resume it to push again (POST /api/queues/{queue_id}/resume)`
  return { status: 409, error }
}

export function quotaRefusal(quota: MetQuota, { quotas, nowMs }: QuotasNow): PushRefusal {
  const error = quota === 'share' ? OVER_SHARE_TEXT : overQuotaText(quota, quotas[quota])
  return { status: 429, error, retryAfterSeconds: quotaRetryAfterSeconds(quota, nowMs) }
}

function shardFull(what: string): PushRefusal {
  const error = `The ${what} limit of this shard is reached`
  return { status: 429, error, retryAfterSeconds: QUOTA_RETRY_AFTER_SECONDS }
}

export function answerRefusal(response: ServerResponse, refusal: PushRefusal): void {
  if (refusal.status === 422) answerProblem(response, refusal.problem)
  else if (refusal.status === 409) answerError(response, 409, refusal.error)
  else answerRetryLater(response, refusal.status, refusal.error, refusal.retryAfterSeconds)
}

export function answerPush(response: ServerResponse, result: PushResult, now: QuotasNow): void {
  if ('jobId' in result) answerJson(response, 201, `{${scheduledFields(result)}}`)
  else {
    const refusal = pushRefusal(result, now)
    if (refusal !== null) answerRefusal(response, refusal)
  }
}

/** The fields of a 201, as JSON. Written by hand: none of the values needs escaping. */
export function scheduledFields(job: { queueId: number; jobId: number; scheduledAtMs: number }): string {
  return `"success":true,"queue_id":${job.queueId},"job_id":${job.jobId},"scheduled_at":"${formatTimestamp(
    job.scheduledAtMs,
  )}","message":"Scheduled successfully"`
}
