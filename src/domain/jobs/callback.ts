import type { TraceContext } from '../net/trace-context.ts'
import type { AttemptEnd } from './retry-policy.ts'
import type { JobRequest } from './job.ts'
import type { JobIds } from './job-ids.ts'
import type { CallbackEvents } from './queue-settings.ts'
import { formatTimestamp } from '../timestamp.ts'

/** A completion callback to be sent: a POST of `body` to `url`. */
export interface Callback {
  readonly url: string
  /** `<uuid of the chain>_cb`; before the chain's end with the attempt, so that no callback looks like a repeat. */
  readonly webhookId: string
  readonly body: string
  /** Call depth of the job that it reports. */
  readonly callDepth?: number
  /** The trace of that job; absent = none. */
  readonly trace?: TraceContext
}

/** The callback to send after an attempt; null for none. */
export function callbackFor(options: {
  rootId: number
  attempt: number
  request: JobRequest
  events: CallbackEvents
  end: AttemptEnd
  jobIds: JobIds
}): Callback | null {
  const { rootId, attempt, request, events, end, jobIds } = options
  if (request.callbackUrl === null) return null
  if (!end.isTerminal && events !== 'every_attempt') return null
  const uuid = jobIds.uuidOf(rootId)
  const last = end.attempts[end.attempts.length - 1]
  if (last === undefined) throw new Error('an ended attempt has a summary')
  return {
    url: request.callbackUrl,
    ...(request.callDepth === undefined ? {} : { callDepth: request.callDepth }),
    ...(request.trace === undefined ? {} : { trace: request.trace }),
    webhookId: end.isTerminal ? `${uuid}_cb` : `${uuid}_cb_${attempt}`,
    body: JSON.stringify({
      type: 'job_execution',
      job_id: uuid,
      job_number: rootId,
      status: end.callbackStatus,
      response_status: last.responseStatus,
      duration_ms: Math.round(last.durationMs),
      error_message: last.errorMessage,
      attempt_number: attempt,
      completed_at: formatTimestamp(last.completedAtMs),
    }),
  }
}
