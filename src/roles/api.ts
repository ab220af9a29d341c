import { untilLed } from '../redis/engine-terms.ts'
import { createQueueStore } from '../redis/queue-store.ts'
import { createSettingsCompiler, putOwnToken } from '../redis/settings-compiler.ts'
import { describeSettings, type ApiSettings } from '../settings/role-settings.ts'
import { systemClock } from '../telemetry/system-clock.ts'
import { createEngineEditor, startApi } from './api-part.ts'
import { baseUrl } from './base-url.ts'
import { endWithInstallation, openEgress, openEngine, startCompiledSettings } from './engine-part.ts'
import { runUntilSignalled } from './lifecycle.ts'
import { API_COMMAND_TIMEOUT_MS } from './store.ts'
import { createTelemetry, redisCheck } from './telemetry-part.ts'

/** The team of PUNCTUAL_TOKEN. */
const DEFAULT_TEAM = 'default'

export async function runApi(settings: ApiSettings): Promise<void> {
  const telemetry = createTelemetry(settings)
  const { logger } = telemetry
  logger.debug('Settings', describeSettings(settings))
  await runUntilSignalled(logger, async (lifecycle, signal) => {
    const engine = await openEngine(settings, {
      name: 'punctual-api',
      commandTimeoutMs: API_COMMAND_TIMEOUT_MS,
      telemetry,
      lifecycle,
    })
    const { store, box } = engine
    await endWithInstallation(store, lifecycle)
    if (settings.token !== null) {
      const compiler = createSettingsCompiler({ engine: store.engine, box, term: null })
      await putOwnToken(compiler, DEFAULT_TEAM, settings.token)
    }
    const compiled = await startCompiledSettings(engine, { telemetry, lifecycle })
    const queues = createQueueStore(store.engine)
    let isOpen = false
    await telemetry.startOpsServer({
      host: settings.host,
      port: settings.opsPort,
      checks: [
        redisCheck(store.connection),
        { name: 'api', failure: () => (isOpen ? null : 'takes no requests yet') },
      ],
      lifecycle,
    })
    if (settings.resources === 'kubernetes') await untilLed(store.engine, { clock: systemClock, signal })
    const port = await startApi({
      host: settings.host,
      port: settings.port,
      store,
      queues,
      editor: createEngineEditor(queues),
      settings: compiled,
      egress: await openEgress(settings, settings.redisUrl),
      drainMs: settings.drainSeconds * 1000,
      logger,
      lifecycle,
    })
    isOpen = true
    logger.info('The API listens', { url: baseUrl(settings.host, port) })
  })
}
