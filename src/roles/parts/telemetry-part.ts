import type { Registry } from 'prom-client'
import type { Executor } from '../../executor/executor.ts'
import type { Logger } from '../../ports/runtime.ts'
import type { LoopHealth } from '../../ports/loops/loop-health.ts'
import type { Metrics } from '../../ports/metrics.ts'
import type { Exemplars } from '../../telemetry/open-metrics/exemplars.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { createLoopHealth } from '../../telemetry/loop-health.ts'
import { createMetrics } from '../../telemetry/metrics.ts'
import { OpsServer, type ReadinessCheck } from '../../telemetry/ops-server.ts'
import { systemClock } from '../../telemetry/system-clock.ts'
import { pingAny, type RedisConnection } from '../../redis/base/client/connection.ts'
import type { Lifecycle } from '../startup/lifecycle.ts'

type LoggerOptions = Parameters<typeof createLogger>[0]

export interface Telemetry {
  readonly logger: Logger
  readonly metrics: Metrics
  readonly loops: LoopHealth
  /** Registry, for series that only one role has. */
  readonly registry: Registry
  readonly exemplars: Exemplars
  /**
   * Answers the port. It starts before the role's work and stops after it: a role that stops is alive and not ready, and so
   * is one with a loop that fails turn after turn.
   */
  startOpsServer(options: {
    host: string
    port: number
    checks: readonly ReadinessCheck[]
    lifeChecks?: readonly ReadinessCheck[]
    lifecycle: Lifecycle
  }): Promise<number>
}

export function createTelemetry(settings: {
  logLevel: LoggerOptions['level']
  logFormat: LoggerOptions['format']
  /** Whether every line says that the installation goes by a test clock; no when absent. */
  testClock?: boolean
}): Telemetry {
  const plain = createLogger({ level: settings.logLevel, format: settings.logFormat })
  const logger = settings.testClock === true ? plain.child({ testClock: true }) : plain
  const { metrics, registry, exemplars, render } = createMetrics({ processMetrics: true })
  const { loops, check: loopsCheck } = createLoopHealth({ clock: systemClock, logger, metrics })
  return {
    logger,
    metrics,
    loops,
    registry,
    exemplars,
    startOpsServer: async ({ host, port, checks, lifeChecks = [], lifecycle }) => {
      const running = { name: 'running', failure: () => (lifecycle.isStopping() ? 'stopping' : null) }
      const server = new OpsServer({
        host,
        port,
        checks: [...checks, loopsCheck, running],
        lifeChecks,
        renderMetrics: render,
      })
      lifecycle.onStop('ops server', () => server.stop())
      return server.start()
    },
  }
}

/** Ready only while Redis answers. */
export function redisCheck(connection: RedisConnection): ReadinessCheck {
  return {
    name: 'redis',
    failure: async () => {
      await pingAny(connection)
      return null
    },
  }
}

/** Ready only while its executor, once it has one, holds the lease of a shard. */
export function leasesCheck(executor: () => Executor | null): ReadinessCheck {
  return { name: 'leases', failure: () => (executor()?.isReady() === true ? null : 'no leases') }
}

/** Ready only while its API takes requests. */
export function apiCheck(isOpen: () => boolean): ReadinessCheck {
  return { name: 'api', failure: () => (isOpen() ? null : 'takes no requests yet') }
}
