import { SHUTDOWN_GRACE_MS } from '../domain/limits.ts'
import { createEgressGuard } from '../outbound/egress-guard.ts'
import { createCompiledSettings } from '../redis/compiled-settings.ts'
import { createSecretBox } from '../redis/secret-box.ts'
import { systemClock } from '../telemetry/system-clock.ts'
import { describeSettings, type ExecutorSettings } from '../settings/role-settings.ts'
import { baseUrl } from './base-url.ts'
import { startExecutor } from './executor-part.ts'
import { denyOwnRedis } from './own-redis.ts'
import { runUntilSignalled } from './lifecycle.ts'
import { EXECUTOR_COMMAND_TIMEOUT_MS, openStore } from './store.ts'
import { createTelemetry, redisCheck } from './telemetry-part.ts'

export async function runExecutor(settings: ExecutorSettings): Promise<void> {
  const telemetry = createTelemetry(settings)
  const { logger, metrics } = telemetry
  logger.debug('Settings', describeSettings(settings))
  await runUntilSignalled(logger, async (lifecycle) => {
    const store = await openStore({
      url: settings.redisUrl,
      name: 'punctual-executor',
      commandTimeoutMs: EXECUTOR_COMMAND_TIMEOUT_MS,
      shards: settings.shards,
      allowUnsafeRedis: settings.allowUnsafeRedis,
      logger,
      metrics,
      lifecycle,
    })
    const compiled = createCompiledSettings({
      connection: store.connection,
      box: createSecretBox(settings.secretsKey),
      clock: systemClock,
      logger,
    })
    lifecycle.onStop('compiled settings', () => compiled.stop())
    await compiled.start()
    const executor = await startExecutor({
      redisUrl: settings.redisUrl,
      store,
      egress: createEgressGuard({
        allow: settings.egressAllow,
        deny: [...settings.egressDeny, ...(await denyOwnRedis(settings.redisUrl))],
        allowable: null,
      }),
      teams: compiled,
      concurrency: settings.executorConcurrency,
      graceMs: SHUTDOWN_GRACE_MS,
      logger,
      metrics,
      lifecycle,
    })
    const port = await telemetry.startOpsServer({
      host: settings.host,
      port: settings.opsPort,
      checks: [
        redisCheck(store.connection),
        { name: 'leases', failure: () => (executor.isReady() ? null : 'no leases yet') },
      ],
      lifecycle,
    })
    logger.info('The executor runs', { opsUrl: baseUrl(settings.host, port) })
  })
}
