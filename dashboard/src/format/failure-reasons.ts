import type { JobSummary } from '../../../clients/typescript/src/client.ts'

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
  return REASONS[reason]
}
