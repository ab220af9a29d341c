import type { Context } from '@opentelemetry/api'
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type Span,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace'
import { LogGate } from '../../domain/log-gate.ts'
import type { Runtime } from '../../ports/runtime.ts'
import type { TracingMetrics } from './tracing-metrics.ts'

export interface SpanExportOptions extends Runtime {
  readonly exporter: SpanExporter
  readonly metrics: TracingMetrics
  /** Most spans that wait or are on their way. */
  readonly queueMax: number
  readonly batchMax: number
  readonly delayMs: number
  /** Of one post with its retries. */
  readonly timeoutMs: number
}

/** Beyond the timeout of the exporter, after which it has answered. */
const ANSWER_SLACK_MS = 5_000

type ExportCallback = Parameters<SpanExporter['export']>[1]

/**
 * Takes ended spans to the exporter, in batches. Owns the count of spans that wait or are on their way, which is bounded:
 * a tracing system that is slow or away costs this memory and no more. What is dropped is counted, and logged once a
 * minute. `shutdown` waits for the posts under way.
 */
export class SpanExport implements SpanProcessor {
  readonly #options: SpanExportOptions
  readonly #batches: BatchSpanProcessor
  readonly #gate = new LogGate()
  #pending = 0
  #droppedUnsaid = 0

  constructor(options: SpanExportOptions) {
    const { exporter, queueMax, batchMax, delayMs, timeoutMs } = options
    this.#options = options
    this.#batches = new BatchSpanProcessor({
      exporter: {
        export: (spans, done) => this.#export(spans, done),
        shutdown: () => exporter.shutdown(),
      },
      maxQueueSize: queueMax,
      maxExportBatchSize: batchMax,
      scheduledDelayMillis: delayMs,
      exportTimeoutMillis: timeoutMs + ANSWER_SLACK_MS,
    })
  }

  /** Spans that wait or are on their way. */
  get pending(): number {
    return this.#pending
  }

  onStart(span: Span, parent: Context): void {
    this.#batches.onStart(span, parent)
  }

  onEnd(span: ReadableSpan): void {
    if (this.#pending >= this.#options.queueMax) return this.#drop(1, 'queue_full', FULL)
    this.#pending += 1
    this.#batches.onEnd(span)
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush()
  }

  shutdown(): Promise<void> {
    return this.#batches.shutdown()
  }

  #export(spans: ReadableSpan[], done: ExportCallback): void {
    this.#options.exporter.export(spans, (result) => {
      this.#pending -= spans.length
      if (result.error === undefined) this.#options.metrics.spansExported(spans.length)
      else this.#drop(spans.length, 'not_taken', result.error.message)
      done(result)
    })
  }

  #drop(spans: number, why: 'queue_full' | 'not_taken', reason: string): void {
    const { metrics, logger, clock } = this.#options
    metrics.spansDropped(why, spans)
    this.#droppedUnsaid += spans
    if (this.#gate.pass(why, clock.monotonicMs()) === 0) return
    logger.warn('Spans are dropped: the tracing system does not take them', {
      spans: this.#droppedUnsaid,
      reason,
    })
    this.#droppedUnsaid = 0
  }
}

const FULL = 'more are waiting than OTEL_BSP_MAX_QUEUE_SIZE allows'
