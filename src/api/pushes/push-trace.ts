import type { IncomingMessage, ServerResponse } from 'node:http'
import { isSampled, traceContextOf, type TraceContext } from '../../domain/net/trace-context.ts'
import type { RequestSpan, SendSpan, Tracing } from '../../ports/tracing/tracing.ts'
import { noteTrace } from '../measuring/request-trace.ts'

/** What is traced of a request that pushes. */
export interface PushTrace {
  /** The context that it came with; null = none. */
  readonly given: TraceContext | null
  /** null = nothing is recorded. */
  readonly span: RequestSpan | null
}

/** Begins what is traced of a request to `route`, its template. It ends with the response. */
export function traceRequest(
  tracing: Tracing,
  { request, response, team }: { request: IncomingMessage; response: ServerResponse; team: string },
  route: string,
): PushTrace {
  const { traceparent, tracestate } = request.headers
  const given = traceparent === undefined ? null : traceContextOf(traceparent, tracestate)
  const span = tracing.beginRequest({ given, method: request.method ?? '', route, team })
  const trace = span?.context ?? given
  if (trace !== null && isSampled(trace)) noteTrace(response, trace)
  if (span !== null) {
    response.once('close', () => span.end(response.headersSent ? response.statusCode : null))
  }
  return { given, span }
}

export interface TracedSend {
  /** What the job keeps: its span, else what its caller gave; null = nothing. */
  readonly context: TraceContext | null
  /** null = nothing is recorded. */
  readonly span: SendSpan | null
}

/** Begins what is traced of one job that a request pushes. */
export function beginSend({ given, span }: PushTrace, queue: string): TracedSend {
  const send = span?.beginSend(queue) ?? null
  return { context: send?.context ?? given, span: send }
}

/** Ends it, if it made a job or found the one that a push before it made. */
export function endSend({ span }: TracedSend, result: object): void {
  if (span !== null && 'jobId' in result) span.end(Number(result.jobId))
}

/**
 * Links the span of a request to the trace that the job goes on in which it has remade. The job is made already, so
 * nothing here may fail.
 */
export async function linkRemade(
  { span }: PushTrace,
  readTrace: () => Promise<TraceContext | undefined>,
): Promise<void> {
  if (span === null) return
  const trace = await readTrace().catch(() => undefined)
  if (trace !== undefined) span.link(trace)
}
