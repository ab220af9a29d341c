import {
  createTraceState,
  ROOT_CONTEXT,
  trace,
  type Context,
  type Span,
  type SpanContext,
} from '@opentelemetry/api'
import { spanIdOf, traceContextOf, traceIdOf, type TraceContext } from '../../domain/net/trace-context.ts'

/** The context in which a child begins; null = a trace begins. */
export function below(context: TraceContext | null): Context {
  return context === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, spanContextOf(context))
}

export function spanContextOf(context: TraceContext): SpanContext {
  const { parent, state } = context
  return {
    traceId: traceIdOf(context),
    spanId: spanIdOf(context),
    traceFlags: Number.parseInt(parent.slice(-2), 16),
    isRemote: true,
    ...(state !== undefined && { traceState: createTraceState(state) }),
  }
}

/** Throws when the tracer has given it none. */
export function contextOf(span: Span): TraceContext {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext()
  const flags = traceFlags.toString(16).padStart(2, '0')
  const context = traceContextOf(`00-${traceId}-${spanId}-${flags}`, traceState?.serialize())
  if (context === null) throw new Error('a span has no context')
  return context
}
