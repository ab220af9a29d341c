import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type Tracer,
} from '@opentelemetry/api'
import type {
  CallEnd,
  CallSpan,
  RequestSpan,
  SendSpan,
  TracedCall,
  TracedRequest,
  TracedTick,
  Tracing,
} from '../../ports/tracing/tracing.ts'
import type { Sampling } from './sampling.ts'
import { below, contextOf, spanContextOf } from './span-contexts.ts'
import { httpFacts, jobFacts, messaging, named } from './span-facts.ts'

const SERVER_ERROR = 500

export interface SpansOptions extends Pick<Sampling, 'mayRecord'> {
  readonly tracer: Tracer
  /** Unix ms of this machine: the times of spans are compared with those of others. */
  nowMs(): number
  /** Tells of a defect. Whatever is traced goes on without. */
  onDefect(error: unknown): void
}

/**
 * Makes the spans of a job's life, under the names of OpenTelemetry's semantic conventions for HTTP and messaging. They
 * hold no header, no body and no query. Nothing here throws: a defect costs a span.
 */
export function createSpans({ tracer, mayRecord, nowMs, onDefect }: SpansOptions): Tracing {
  const confined = <T>(run: () => T | null): T | null => {
    try {
      return run()
    } catch (error) {
      onDefect(error)
      return null
    }
  }
  const send = (queue: string | null, attributes: Attributes, parent: Context, startTime?: number) => {
    const facts = { ...messaging('send', queue), ...attributes }
    const options = {
      kind: SpanKind.PRODUCER,
      attributes: facts,
      ...(startTime !== undefined && { startTime }),
    }
    const span = tracer.startSpan(named('send', queue), options, parent)
    return span.isRecording() ? sendSpan(span, confined) : null
  }
  return {
    beginRequest: (request) =>
      confined(() => (mayRecord(request.given) ? beginRequest(tracer, request, { send, confined }) : null)),
    beginTick: ({ team, cronId, queue, dueInMs }: TracedTick) =>
      confined(() => {
        if (!mayRecord(null)) return null
        const attributes = { 'punctual.team': team, 'punctual.cron.id': cronId }
        return send(queue, attributes, ROOT_CONTEXT, nowMs() + dueInMs)
      }),
    beginCall: (call) =>
      confined(() =>
        mayRecord(call.context) ? beginCall(tracer, call, { nowMs: nowMs(), confined }) : null,
      ),
  }
}

type Confined = <T>(run: () => T | null) => T | null
type Send = (queue: string | null, attributes: Attributes, parent: Context) => SendSpan | null

function sendSpan(span: Span, confined: Confined): SendSpan {
  return {
    context: contextOf(span),
    end: (jobId) =>
      void confined(() => {
        span.setAttribute('messaging.message.id', String(jobId))
        span.end()
      }),
  }
}

function beginRequest(
  tracer: Tracer,
  { given, method, route, team }: TracedRequest,
  { send, confined }: { readonly send: Send; readonly confined: Confined },
): RequestSpan | null {
  const attributes = { 'http.request.method': method, 'http.route': route, 'punctual.team': team }
  const span = tracer.startSpan(`${method} ${route}`, { kind: SpanKind.SERVER, attributes }, below(given))
  if (!span.isRecording()) return null
  const inside = trace.setSpan(ROOT_CONTEXT, span)
  const own = contextOf(span)
  return {
    context: own,
    beginSend: (queue) =>
      confined(() => send(queue, { 'punctual.team': team }, inside)) ?? {
        context: own,
        end: () => undefined,
      },
    link: (job) => void confined(() => span.addLink({ context: spanContextOf(job) })),
    end: (status) =>
      void confined(() => {
        if (status !== null) span.setAttribute('http.response.status_code', status)
        if (status !== null && status >= SERVER_ERROR) fail(span, String(status))
        span.end()
      }),
  }
}

/** Begins the span of a call; that of the wait before it has ended by then. */
function beginCall(
  tracer: Tracer,
  call: TracedCall,
  { nowMs, confined }: { readonly nowMs: number; readonly confined: Confined },
): CallSpan | null {
  const parent = below(call.context)
  const span = tracer.startSpan(call.method, { kind: SpanKind.CLIENT, startTime: nowMs }, parent)
  if (!span.isRecording()) return null
  const { job, queue, waitMs, heldMs } = call
  const facts = jobFacts(call)
  if (job !== null && waitMs !== null) {
    const claimedAtMs = nowMs - heldMs
    const options = {
      kind: SpanKind.CONSUMER,
      startTime: claimedAtMs - waitMs,
      attributes: { ...messaging('receive', queue), ...facts },
    }
    tracer.startSpan(named('wait', queue), options, parent).end(claimedAtMs)
  }
  span.setAttributes({ ...facts, ...httpFacts(call) })
  return { context: contextOf(span), end: (end) => void confined(() => endCall(span, end)) }
}

function endCall(span: Span, { status, failure }: CallEnd): void {
  if (status !== null) span.setAttribute('http.response.status_code', status)
  if (failure !== null) fail(span, failure)
  span.end()
}

function fail(span: Span, reason: string): void {
  span.setAttribute('error.type', reason)
  span.setStatus({ code: SpanStatusCode.ERROR, message: reason })
}
