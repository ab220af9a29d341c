import type { KeyObject } from 'node:crypto'
import { KUBERNETES } from '../settings/parsers.ts'
import { describeSettings, type ApiSettings } from '../settings/role-settings.ts'
import { openStateFolder } from '../standalone/data-folder.ts'
import { createRequestMetrics } from '../telemetry/requests/request-metrics.ts'
import { systemClock } from '../telemetry/system-clock.ts'
import { startApi } from './parts/api-part.ts'
import type { ClusterResources, openClusterResources, RoleContext } from './editing/cluster-resources.ts'
import { endWithInstallation, openEgress } from './parts/engine-part.ts'
import { openFolderResources } from './editing/folder-resources.ts'
import { openOidc } from './parts/login-part.ts'
import { acceptOwnToken } from './editing/own-token.ts'
import { watchRedis } from './parts/redis-watch-part.ts'
import { API_REDIS, openStore, type Store } from './parts/store.ts'
import { apiCheck, createTelemetry, redisCheck } from './parts/telemetry-part.ts'
import { baseUrl } from './startup/base-url.ts'
import { runUntilSignalled } from './startup/lifecycle.ts'
import { startTracing } from './startup/role-tracing.ts'
import { waitForRedis } from './startup/redis-wait.ts'

export async function runApi(settings: ApiSettings): Promise<void> {
  const telemetry = createTelemetry(settings)
  const { logger } = telemetry
  logger.debug('Settings', describeSettings(settings))
  await runUntilSignalled(logger, async (lifecycle, signal) => {
    const context = { telemetry, lifecycle }
    const tracing = await startTracing(settings.tracing, 'punctual-api', context)
    const open = () => openStore(settings, { ...API_REDIS, durability: settings.redisDurability, ...context })
    const store = await waitForRedis(open, { clock: systemClock, logger, signal })
    await endWithInstallation(store, lifecycle)
    await watchRedis(settings, () => store.readServers(), context)
    if (settings.token !== null) await acceptOwnToken(store, settings.token)
    let isOpen = false
    await telemetry.startOpsServer({
      host: settings.host,
      port: settings.opsPort,
      checks: [redisCheck(store.connection), apiCheck(() => isOpen)],
      lifecycle,
    })
    const { resources, secretsKey } = settings
    const { cluster = null, ...opened } =
      resources === KUBERNETES || secretsKey === null
        ? await openResourcesOfCluster(settings, store, { ...context, signal })
        : await openKeptFolder({ ...settings, secretsKey }, store, context)
    const port = await startApi({
      settings,
      store,
      ...opened,
      ...(await openOidc(settings, cluster, logger)),
      egress: await openEgress(settings, store, context),
      requests: createRequestMetrics(telemetry.registry, telemetry.exemplars),
      tracing,
      shutdownDelayMs: settings.shutdownDelaySeconds * 1000,
      logger,
      lifecycle,
    })
    isOpen = true
    const scheme = settings.tlsCert === null ? 'http' : 'https'
    logger.info('The API listens', { url: baseUrl(settings.host, port, scheme) })
  })
}

/** Keeps a folder of resources, as a standalone does. One API at a time has the data folder beside it. */
async function openKeptFolder(
  settings: ApiSettings & { readonly secretsKey: KeyObject },
  store: Store,
  context: RoleContext,
): Promise<ClusterResources> {
  const { resources, secretsKey } = settings
  const state = openStateFolder(settings.dataDir)
  context.lifecycle.onStop('data folder', () => state.close())
  const paths = { resources, secretsKey, statePath: state.folderStatePath, withSamples: false }
  return openFolderResources(settings, paths, store, context)
}

/** An API with a folder is without the client of the cluster, which takes a fifth of a start. */
async function openResourcesOfCluster(...given: Parameters<typeof openClusterResources>) {
  const { openClusterResources: open } = await import('./editing/cluster-resources.ts')
  return open(...given)
}
