import type { JobSummary } from '../../../clients/typescript/src/client.ts'
import { textOf } from './values/known-values.ts'

export const REASONS: Readonly<Record<NonNullable<JobSummary['failure_reason']>, string>> = {
  timeout: 'Timeout',
  connection_error: 'No connection',
  dns_error: 'No usable address',
  ssl_error: 'TLS failed',
  http_client_error: 'Answered with 4xx',
  http_server_error: 'Answered with 5xx',
  http_redirect: 'Answered with a redirect',
  invalid_url: 'Invalid URL',
  blocked_target: 'Target not allowed',
  assertion_failed: 'An assertion failed',
  executor_lost: 'Executor lost',
  limit_exceeded: 'Limit exceeded',
  unknown: 'Unknown',
  damaged: 'Damaged record',
}

/** Why an attempt failed, in words. */
export function reasonText(reason: NonNullable<JobSummary['failure_reason']>): string {
  return textOf(REASONS, reason)
}

/** Failures that the status of the answer tells by itself. */
const TOLD_BY_STATUS: ReadonlySet<string> = new Set([
  'http_client_error',
  'http_server_error',
  'http_redirect',
])

/** Why an attempt failed, in a cell: the status where it says that, else the reason, and the status beside it. */
export function answerText(reason: NonNullable<JobSummary['failure_reason']>, status: number | null): string {
  if (status === null) return reasonText(reason)
  return TOLD_BY_STATUS.has(reason) ? String(status) : `${reasonText(reason)} (${status})`
}

/** The same in a sentence. */
export function failureText(reason: JobSummary['failure_reason'], status: number | null): string {
  if (status === null) return reason === null ? 'Unknown' : reasonText(reason)
  const answered = `nswered with ${status}`
  return reason === null || TOLD_BY_STATUS.has(reason)
    ? `A${answered}`
    : `${reasonText(reason)}, a${answered}`
}

/** Whether the message of a failure says more than its status does. */
export function isMessageNews(reason: JobSummary['failure_reason']): boolean {
  return reason === null || !TOLD_BY_STATUS.has(reason)
}
