import type { Registry } from 'prom-client'
import type { Logger } from '../../ports/runtime.ts'
import { NO_TRACING, type Tracing } from '../../ports/tracing/tracing.ts'
import type { TracingSettings } from '../../settings/tracing-settings.ts'
import { systemClock } from '../../telemetry/system-clock.ts'
import type { Lifecycle } from './lifecycle.ts'
import { VERSION } from './version.ts'

interface TracedRole {
  readonly telemetry: { readonly logger: Logger; readonly registry: Registry }
  readonly lifecycle: Lifecycle
}

/**
 * Opens the traces of a role before its work, so that they end after it. OpenTelemetry is loaded only where an endpoint is
 * set.
 * @param name the service, unless OTEL_SERVICE_NAME gives another
 */
export async function startTracing(
  settings: TracingSettings | null,
  name: string,
  { telemetry: { logger, registry }, lifecycle }: TracedRole,
): Promise<Tracing> {
  if (settings === null) return NO_TRACING
  const { openTracing } = await import('../../telemetry/tracing/open-tracing.ts')
  const { tracing, stop } = openTracing({
    ...settings,
    serviceName: settings.serviceName ?? name,
    version: VERSION,
    clock: systemClock,
    logger,
    registry,
  })
  lifecycle.onStop('traces', stop)
  logger.info('Traces are recorded', { endpoint: settings.endpoint, ...settings.sampler })
  return tracing
}
