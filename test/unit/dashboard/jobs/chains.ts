import type { Job, JobSummary } from '../../../../clients/typescript/src/client.ts'

export const NOW = Date.parse('2026-11-23T12:00:00.000Z')

export function iso(offsetSeconds: number): string {
  return new Date(NOW + offsetSeconds * 1_000).toISOString()
}

/** An attempt that waits and is due now. */
export function attemptOf(given: Partial<JobSummary> = {}): JobSummary {
  return {
    job_id: 7,
    uuid: '0a1b2c3d-4e5f-8000-8000-000000000007',
    original_job_id: 7,
    queue_id: 1,
    queue: 'emails',
    url: 'https://example.com/hook',
    method: 'POST',
    callback_url: null,
    tags: {},
    status: 'pending',
    final_status: null,
    attempt_number: 1,
    is_retry: false,
    has_pending_retry: false,
    scheduled_at: iso(0),
    created_at: iso(0),
    started_at: null,
    completed_at: null,
    dead_lettered_at: null,
    failure_reason: null,
    error_message: null,
    response_status: null,
    duration_ms: null,
    cron_id: null,
    bulk_id: null,
    replayed_as: null,
    ...given,
  }
}

export const SETTINGS: NonNullable<Job['settings']> = {
  timeout_seconds: 30,
  retries_enabled: true,
  retry_delays: [60, 600],
  success_assertions: [],
  callback_events: 'terminal',
  record_responses: 'all',
}

export function jobOf(chain: readonly JobSummary[], given: Partial<Job> = {}): Job {
  return {
    ...(chain[0] ?? attemptOf()),
    headers: {},
    header_secrets: {},
    payload: null,
    body: null,
    body_encoding: null,
    waiting: null,
    settings: SETTINGS,
    expires_at: null,
    trace_id: null,
    chain: [...chain],
    calls: [],
    calls_dropped: 0,
    ...given,
  }
}
