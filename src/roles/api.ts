import { createEgressGuard } from '../outbound/egress-guard.ts'
import { createCompiledSettings, createCompiledSettingsWriter } from '../redis/compiled-settings.ts'
import { createQueueStore } from '../redis/queue-store.ts'
import { createSecretBox } from '../redis/secret-box.ts'
import { systemClock } from '../telemetry/system-clock.ts'
import { describeSettings, type ApiSettings } from '../settings/role-settings.ts'
import { createEngineEditor, startApi } from './api-part.ts'
import { baseUrl } from './base-url.ts'
import { denyOwnRedis } from './own-redis.ts'
import { runUntilSignalled } from './lifecycle.ts'
import { API_COMMAND_TIMEOUT_MS, openStore } from './store.ts'
import { createTelemetry, redisCheck } from './telemetry-part.ts'

/** The team of PUNCTUAL_TOKEN. */
const DEFAULT_TEAM = 'default'

export async function runApi(settings: ApiSettings): Promise<void> {
  const telemetry = createTelemetry(settings)
  const { logger, metrics } = telemetry
  logger.debug('Settings', describeSettings(settings))
  await runUntilSignalled(logger, async (lifecycle) => {
    const store = await openStore({
      url: settings.redisUrl,
      name: 'punctual-api',
      commandTimeoutMs: API_COMMAND_TIMEOUT_MS,
      shards: settings.shards,
      allowUnsafeRedis: settings.allowUnsafeRedis,
      logger,
      metrics,
      lifecycle,
    })
    const box = createSecretBox(settings.secretsKey)
    if (settings.token !== null) {
      await createCompiledSettingsWriter(store.connection, box).putToken(
        'PUNCTUAL_TOKEN',
        settings.token,
        DEFAULT_TEAM,
      )
    }
    const compiled = createCompiledSettings({ connection: store.connection, box, clock: systemClock, logger })
    lifecycle.onStop('compiled settings', () => compiled.stop())
    await compiled.start()
    const queues = createQueueStore(store.engine)
    await telemetry.startOpsServer({
      host: settings.host,
      port: settings.opsPort,
      checks: [redisCheck(store.connection)],
      lifecycle,
    })
    const port = await startApi({
      host: settings.host,
      port: settings.port,
      store,
      queues,
      editor: createEngineEditor(queues),
      settings: compiled,
      egress: createEgressGuard({
        allow: settings.egressAllow,
        deny: [...settings.egressDeny, ...(await denyOwnRedis(settings.redisUrl))],
        allowable: null,
      }),
      logger,
      lifecycle,
    })
    logger.info('The API listens', { url: baseUrl(settings.host, port) })
  })
}
