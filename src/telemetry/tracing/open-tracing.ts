import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { TracerProvider } from '@opentelemetry/sdk-trace'
import type { Registry } from 'prom-client'
import { reasonOf, StartupError } from '../../domain/errors.ts'
import { LogGate } from '../../domain/log-gate.ts'
import type { Runtime } from '../../ports/runtime.ts'
import type { Tracing } from '../../ports/tracing/tracing.ts'
import { openSampling, type SamplingOptions } from './sampling.ts'
import { SpanExport } from './span-export.ts'
import { createSpans } from './spans.ts'
import { createTracingMetrics } from './tracing-metrics.ts'

export interface TracingOptions extends Runtime {
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly sampler: SamplingOptions
  readonly serviceName: string
  readonly version: string
  readonly resourceAttributes: Readonly<Record<string, string>>
  readonly queueMax: number
  readonly batchMax: number
  readonly delayMs: number
  readonly certificates: {
    readonly ca: string | null
    readonly cert: string | null
    readonly key: string | null
  }
  readonly registry: Registry
}

/** How long the last spans may take to be exported at a stop. */
export const FLUSH_MS = 3_000

export interface OpenTracing {
  readonly tracing: Tracing
  /** Exports what waits, for at most `FLUSH_MS`; what is left then is dropped. */
  stop(): Promise<void>
}

/** Loads OpenTelemetry's SDK, so it is imported only where an endpoint is set. Throws StartupError. */
export function openTracing(options: TracingOptions): OpenTracing {
  const { clock, logger } = options
  const agent = openAgent(options)
  const spans = new SpanExport({
    ...options,
    exporter: openExporter(options, agent),
    metrics: createTracingMetrics(options.registry),
  })
  const { mayRecord, sampler } = openSampling(options.sampler)
  const provider = new TracerProvider({
    sampler,
    resource: resourceFromAttributes({
      'service.name': options.serviceName,
      'service.version': options.version,
      'service.instance.id': randomUUID(),
      ...options.resourceAttributes,
    }),
    spanProcessors: [spans],
  })
  const gate = new LogGate()
  const tracing = createSpans({
    tracer: provider.getTracer('punctual', options.version),
    mayRecord,
    nowMs: () => clock.wallMs(),
    onDefect: (error) => {
      const times = gate.pass('span', clock.monotonicMs())
      if (times > 0) logger.error('A span is missing because of a defect', { times, reason: reasonOf(error) })
    },
  })
  let stopping: Promise<void> | null = null
  return { tracing, stop: () => (stopping ??= stop(options, { provider, spans, agent })) }
}

/** It reads OTEL_EXPORTER_OTLP_COMPRESSION by itself. */
function openExporter(options: TracingOptions, agent: HttpAgent): OTLPTraceExporter {
  const { endpoint, headers, timeoutMs } = options
  return new OTLPTraceExporter({
    url: endpoint,
    headers: { ...headers },
    timeoutMillis: timeoutMs,
    httpAgentOptions: () => agent,
  })
}

function openAgent({ endpoint, certificates }: TracingOptions): HttpAgent {
  const { ca, cert, key } = certificates
  if (new URL(endpoint).protocol === 'http:') return new HttpAgent({ keepAlive: true })
  return new HttpsAgent({
    keepAlive: true,
    ...(ca !== null && { ca: read(ca) }),
    ...(cert !== null && { cert: read(cert) }),
    ...(key !== null && { key: read(key) }),
  })
}

function read(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new StartupError(
      `The file ${path}, which a variable OTEL_EXPORTER_OTLP_* names, cannot be read: ${reasonOf(error)}.`,
      { cause: error },
    )
  }
}

async function stop(
  { clock, logger }: TracingOptions,
  {
    provider,
    spans,
    agent,
  }: { readonly provider: TracerProvider; readonly spans: SpanExport; readonly agent: HttpAgent },
): Promise<void> {
  const late = Promise.withResolvers<void>()
  const cancel = clock.after(FLUSH_MS, () => late.resolve())
  // A batch that is not taken was counted and logged when that became known.
  await Promise.race([provider.shutdown().catch(() => undefined), late.promise])
  cancel()
  if (spans.pending > 0) logger.warn('The last spans were not exported in time', { spans: spans.pending })
  // Otherwise a post that hangs would keep the process.
  agent.createConnection = () => {
    throw new Error('tracing has stopped')
  }
  agent.destroy()
}
