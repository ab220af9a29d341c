import { describeSettings, type ControllerSettings } from '../settings/role-settings.ts'
import { baseUrl } from './base-url.ts'
import { runUntilSignalled } from './lifecycle.ts'
import { EXECUTOR_COMMAND_TIMEOUT_MS, openStore } from './store.ts'
import { createTelemetry, redisCheck } from './telemetry-part.ts'

export async function runController(settings: ControllerSettings): Promise<void> {
  const telemetry = createTelemetry(settings)
  const { logger, metrics } = telemetry
  logger.debug('Settings', describeSettings(settings))
  await runUntilSignalled(logger, async (lifecycle) => {
    const store = await openStore({
      url: settings.redisUrl,
      name: 'punctual-controller',
      commandTimeoutMs: EXECUTOR_COMMAND_TIMEOUT_MS,
      shards: settings.shards,
      allowUnsafeRedis: settings.allowUnsafeRedis,
      logger,
      metrics,
      lifecycle,
    })
    const port = await telemetry.startOpsServer({
      host: settings.host,
      port: settings.opsPort,
      checks: [redisCheck(store.connection)],
      lifecycle,
    })
    logger.info('The controller runs', { opsUrl: baseUrl(settings.host, port) })
  })
}
