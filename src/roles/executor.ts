import type { Executor } from '../executor/executor.ts'
import { describeSettings, type ExecutorSettings } from '../settings/role-settings.ts'
import { systemClock } from '../telemetry/system-clock.ts'
import { baseUrl } from './startup/base-url.ts'
import {
  endWithInstallation,
  openEgress,
  openEngine,
  startCompiledSettings,
  startCompiledWindows,
} from './parts/engine-part.ts'
import { startExecutor } from './parts/executor-part.ts'
import { runUntilSignalled } from './startup/lifecycle.ts'
import { startTracing } from './startup/role-tracing.ts'
import { waitForRedis } from './startup/redis-wait.ts'
import { EXECUTOR_COMMAND_TIMEOUT_MS } from './parts/store.ts'
import { createTelemetry, leasesCheck, redisCheck } from './parts/telemetry-part.ts'

export async function runExecutor(settings: ExecutorSettings): Promise<void> {
  const telemetry = createTelemetry(settings)
  const { logger } = telemetry
  logger.debug('Settings', describeSettings(settings))
  await runUntilSignalled(logger, async (lifecycle, signal) => {
    const tracing = await startTracing(settings.tracing, 'punctual-executor', { telemetry, lifecycle })
    const open = () =>
      openEngine(settings, {
        name: 'punctual-executor',
        commandTimeoutMs: EXECUTOR_COMMAND_TIMEOUT_MS,
        telemetry,
        lifecycle,
      })
    const engine = await waitForRedis(open, { clock: systemClock, logger, signal })
    const { store } = engine
    await endWithInstallation(store, lifecycle)
    let executor: Executor | null = null
    const port = await telemetry.startOpsServer({
      host: settings.host,
      port: settings.opsPort,
      checks: [redisCheck(store.connection), leasesCheck(() => executor)],
      lifecycle,
    })
    executor = await startExecutor({
      name: settings.podName,
      settings,
      store,
      egress: await openEgress(settings, store, { telemetry, lifecycle }),
      teams: await startCompiledSettings(engine, { telemetry, lifecycle }),
      windows: await startCompiledWindows(store, { telemetry, lifecycle }),
      telemetry,
      tracing,
      lifecycle,
    })
    logger.info('The executor runs', { opsUrl: baseUrl(settings.host, port) })
  })
}
