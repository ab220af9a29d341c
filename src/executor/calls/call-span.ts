import type { TraceContext } from '../../domain/net/trace-context.ts'
import type { EndedCall } from '../../ports/http-caller.ts'
import type { ClaimedCallback, ClaimedJob, WorkEnd } from '../../ports/jobs.ts'
import type { CallEnd, CallSpan, TracedCall, Tracing } from '../../ports/tracing/tracing.ts'
import type { NoteDefect } from '../defect-notes.ts'

export interface CallSpanOptions {
  /** Left out where nothing is recorded. */
  readonly tracing?: Tracing
  readonly noteDefect: NoteDefect
}

type Called = ClaimedJob | ClaimedCallback

export interface CallTrace {
  /** null = nothing is recorded. */
  readonly span: CallSpan | null
  /** What the target is sent: where the span is, else what the work came with; undefined = nothing. */
  readonly context: TraceContext | undefined
}

const UNTRACED: CallTrace = { span: null, context: undefined }

/** Begins what is traced of a call: nothing, for most. Never throws. */
export function beginCallTrace(
  { tracing, noteDefect }: CallSpanOptions,
  work: Called,
  redisNowMs: () => number,
): CallTrace {
  try {
    const context = work.kind === 'job' ? work.request.trace : work.callback.trace
    if (context === undefined) return UNTRACED
    const span = tracing?.beginCall(tracedCall(work, context, redisNowMs())) ?? null
    return { span, context: span?.context ?? context }
  } catch (error) {
    noteDefect('aside', error, work)
    return UNTRACED
  }
}

function tracedCall(work: Called, context: TraceContext, nowMs: number): TracedCall {
  const common = { context, team: work.team, heldMs: Math.max(0, nowMs - work.startedAtMs) }
  if (work.kind === 'callback') {
    const { url } = work.callback
    return { ...common, queue: null, job: null, cronId: null, method: 'POST', url, waitMs: null }
  }
  const { request, queueName, jobId, attempt, startedAtMs, scheduledAtMs } = work
  return {
    ...common,
    queue: queueName === '' ? null : queueName,
    job: { jobId, attempt },
    cronId: request.cron?.cronId ?? null,
    method: request.method,
    url: request.url,
    waitMs: Math.max(0, startedAtMs - scheduledAtMs),
  }
}

/**
 * Ends the span of a call that ended or was released. Never throws. Answers the end of the work, whose callback goes on
 * from the span.
 */
export function endCallSpan(
  span: CallSpan,
  { end, result }: { readonly end: WorkEnd; readonly result: EndedCall | null },
  noteDefect: NoteDefect,
): WorkEnd {
  try {
    span.end(callEndOf(end, result))
  } catch (error) {
    noteDefect('aside', error, end.work)
  }
  if (end.type !== 'ended' || end.callback === null) return end
  return { ...end, callback: { ...end.callback, trace: span.context } }
}

function callEndOf(end: WorkEnd, result: EndedCall | null): CallEnd {
  const status = result?.kind === 'answered' ? result.status : null
  switch (end.type) {
    case 'ended':
      return { status, failure: end.end.attempts.at(-1)?.failureReason ?? null }
    case 'callback_ended':
      return { status, failure: callbackFailure(result) }
    case 'quarantined':
      return { status, failure: 'damaged' }
    case 'released':
      return { status, failure: 'released' }
  }
}

function callbackFailure(result: EndedCall | null): CallEnd['failure'] {
  if (result === null) return 'unknown'
  if (result.kind === 'failed') return result.reason
  if (result.status >= 500) return 'http_server_error'
  if (result.status >= 400) return 'http_client_error'
  return result.status >= 200 && result.status < 300 ? null : 'http_redirect'
}
