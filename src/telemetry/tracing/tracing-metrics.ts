import type { Registry } from 'prom-client'
import { Series } from '../series.ts'

/** Series of the export of spans, which only a process that records them has. */
export interface TracingMetrics {
  spansExported(count: number): void
  spansDropped(why: 'queue_full' | 'not_taken', count: number): void
}

export function createTracingMetrics(registry: Registry): TracingMetrics {
  const series = new Series(registry)
  const exported = series.counter(
    'punctual_spans_exported_total',
    'Spans that the tracing system has taken from this process.',
  )
  const dropped = series.counterOf(
    'punctual_spans_dropped_total',
    'Spans of this process that were dropped: too many waited, or the tracing system did not take them.',
    { reason: ['queue_full', 'not_taken'] },
  )
  return {
    spansExported: (count) => exported.inc(count),
    spansDropped: (reason, count) => dropped.inc({ reason }, count),
  }
}
