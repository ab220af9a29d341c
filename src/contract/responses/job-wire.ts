import type { JobIds } from '../../domain/jobs/job-ids.ts'
import type { CallRecord, JobChain } from '../../domain/jobs/job.ts'
import { traceIdOf } from '../../domain/net/trace-context.ts'
import { isPlainText, type JobView, viewChain, viewJob } from '../../domain/jobs/job-view.ts'
import type { ChainSettings } from '../../domain/jobs/queue-settings.ts'
import type { Waiting } from '../../domain/jobs/waiting.ts'
import { formatTimestamp, timestampOrNull } from '../../domain/timestamp.ts'
import type { WrittenList } from './lists/json-list.ts'
import { toWireWaiting } from './waiting-wire.ts'
import type {
  Call,
  HeaderLine,
  JobList,
  JobSettings,
  JobSummary,
} from '../../../clients/typescript/src/generated/wire.ts'

/** Shape of a listed job in the ports, which the contract may not import. */
export interface ListedChain {
  readonly jobId: number
  readonly chain: JobChain
}

/**
 * The JSON text of `GET /api/jobs/{job_id}`; null when the chain has no such job. A JSON body is inserted as its source
 * text: parsing it would lose digits of its numbers.
 */
export function writeJob(
  chain: JobChain,
  jobId: number,
  jobIds: JobIds,
  waiting: Waiting | null = null,
): string | null {
  const view = viewJob(chain, jobId, jobIds)
  if (view === null) return null
  const { headers, headerSecrets = {}, trace } = chain.request
  const before = { ...toSummary(chain, view, jobIds), headers, header_secrets: headerSecrets }
  const calls = chain.calls.filter((call) => call.jobId === jobId).map(toCall)
  const after = {
    waiting: waiting === null ? null : toWireWaiting(waiting),
    settings: chain.settings === undefined ? null : toWireSettings(chain.settings),
    expires_at: timestampOrNull(chain.purgeAtMs ?? null),
    trace_id: trace === undefined ? null : traceIdOf(trace),
    chain: viewChain(chain, jobIds).map((each) => toSummary(chain, each, jobIds)),
    calls,
    calls_dropped: view.completedAtMs !== null && calls.length === 0 ? 1 : 0,
  }
  return `${JSON.stringify(before).slice(0, -1)},${bodyMembers(chain)},${JSON.stringify(after).slice(1)}`
}

function toWireSettings(settings: ChainSettings): JobSettings {
  return {
    timeout_seconds: settings.timeoutSeconds,
    retries_enabled: settings.retriesEnabled,
    retry_delays: [...settings.retryDelays],
    success_assertions: [...settings.successAssertions],
    callback_events: settings.callbackEvents,
    record_responses: settings.recordResponses,
  }
}

/** The members that tell the body: `payload`, or `body` with its encoding. */
function bodyMembers({ request }: JobChain): string {
  const { payload, bodyEncoding = null } = request
  const source = payload !== null && !isPlainText(request) ? payload : JSON.stringify(payload)
  return bodyEncoding === null
    ? `"payload":${source},"body":null,"body_encoding":null`
    : `"payload":null,"body":${source},"body_encoding":${JSON.stringify(bodyEncoding)}`
}

/** Shape of a page of jobs in the ports, which the contract may not import. */
interface JobListPage {
  readonly jobs: readonly ListedChain[]
  readonly nextCursor: string | null
  readonly searched: number | null
}

/** @param shown what the reader may see of a chain */
export function jobListOf(
  { jobs, nextCursor, searched }: JobListPage,
  jobIds: JobIds,
  shown: (chain: JobChain) => JobChain,
): WrittenList<ListedChain> {
  return {
    field: 'jobs',
    rows: jobs,
    toWire: ({ jobId, chain: whole }) => {
      const chain = shown(whole)
      const view = viewJob(chain, jobId, jobIds)
      return view === null ? null : toSummary(chain, view, jobIds)
    },
    rest: { next_cursor: nextCursor, ...(searched === null ? {} : { searched }) } satisfies Omit<
      JobList,
      'jobs'
    >,
  }
}

function toSummary(chain: JobChain, view: JobView, jobIds: JobIds): JobSummary {
  return {
    job_id: view.jobId,
    uuid: jobIds.uuidOf(view.jobId),
    original_job_id: view.originalJobId,
    ...queueOf(chain),
    url: chain.request.url,
    method: chain.request.method,
    callback_url: chain.request.callbackUrl,
    tags: chain.request.tags,
    status: view.status,
    final_status: view.finalStatus,
    attempt_number: view.attempt,
    is_retry: view.isRetry,
    has_pending_retry: view.hasPendingRetry,
    scheduled_at: formatTimestamp(view.scheduledAtMs),
    created_at: formatTimestamp(view.createdAtMs),
    started_at: timestampOrNull(view.startedAtMs),
    completed_at: timestampOrNull(view.completedAtMs),
    dead_lettered_at: timestampOrNull(view.deadLetteredAtMs),
    failure_reason: view.failureReason,
    error_message: view.errorMessage,
    response_status: view.responseStatus,
    duration_ms: view.durationMs,
    replayed_as: view.isRetry ? null : chain.replayedAs,
    cron_id: chain.request.cron?.cronId ?? null,
    bulk_id: chain.request.bulkId ?? null,
  }
}

/** The hidden queue of a cron, which has no name, is not shown. */
function queueOf({ queueId, queueName }: JobChain): Pick<JobSummary, 'queue_id' | 'queue'> {
  return queueName === '' ? { queue_id: null, queue: null } : { queue_id: queueId, queue: queueName }
}

function toCall(call: CallRecord): Call {
  const { request, response, timings } = call
  return {
    attempt_number: call.attempt,
    started_at: formatTimestamp(call.startedAtMs),
    duration_ms: call.durationMs,
    request: {
      method: request.method,
      url: request.url,
      headers: toHeaderLines(request.headers),
      body: request.body,
      body_truncated: request.bodyTruncated,
    },
    response: response && {
      status: response.status,
      is_recorded: response.isLeftOut !== true,
      headers: toHeaderLines(response.headers),
      headers_truncated: response.headersTruncated ?? false,
      body: response.body,
      body_truncated: response.bodyTruncated,
      protocol_notes: [...(response.protocolNotes ?? [])],
    },
    failure_reason: call.failureReason,
    error_message: call.errorMessage,
    timings: {
      queue_wait_ms: timings.queueWaitMs,
      dns_ms: timings.dnsMs,
      connect_ms: timings.connectMs,
      tls_ms: timings.tlsMs,
      first_byte_ms: timings.firstByteMs,
      body_ms: timings.bodyMs,
    },
  }
}

function toHeaderLines(headers: ReadonlyArray<readonly [string, string]>): HeaderLine[] {
  return headers.map(([name, value]) => ({ name, value }))
}
