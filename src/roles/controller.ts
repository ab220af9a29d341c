import { hash, randomBytes } from 'node:crypto'
import { firstTokenNamespace, keepFirstToken } from '../controller/teams/first-token.ts'
import { CRON_INDEXES, QUEUE_INDEXES, TOKEN_INDEXES, WINDOW_INDEXES } from '../controller/kinds.ts'
import type { ApiToken, HttpCron, HttpQueue, MaintenanceWindow, TeamSettings } from '../controller/kinds.ts'
import { LeaderElector } from '../kubernetes/leader-election/leader-elector.ts'
import { createLeaseLock } from '../kubernetes/leader-election/lease-lock.ts'
import { SeriesRecorder } from '../kubernetes/events/series-recorder.ts'
import { transformCron } from '../kubernetes/informer/cron-transform.ts'
import {
  API_TOKENS,
  HTTP_CRONS,
  HTTP_QUEUES,
  MAINTENANCE_WINDOWS,
  TEAM_SETTINGS,
} from '../kubernetes/resources/own-kinds.ts'
import type { Leadership, ResourceWriter } from '../ports/kubernetes.ts'
import type { Logger } from '../ports/runtime.ts'
import { describeSettings, type ControllerSettings } from '../settings/role-settings.ts'
import { createReconcileMetrics } from '../telemetry/reconcile-metrics.ts'
import { systemClock } from '../telemetry/system-clock.ts'
import { baseUrl } from './startup/base-url.ts'
import { openCluster, type Cluster } from './parts/cluster-part.ts'
import { ownObjectName, startManager, type OwnKinds } from './parts/controller-part.ts'
import { openLazyEngine } from './parts/lazy-engine.ts'
import { runUntilSignalled } from './startup/lifecycle.ts'
import { watchRedis } from './parts/redis-watch-part.ts'
import { startScaling } from './parts/scaling-part.ts'
import { createTelemetry } from './parts/telemetry-part.ts'

export async function runController(settings: ControllerSettings): Promise<void> {
  const telemetry = createTelemetry(settings)
  const { logger } = telemetry
  logger.debug('Settings', describeSettings(settings))
  await runUntilSignalled(logger, async (lifecycle) => {
    const context = { telemetry, lifecycle }
    const engine = await openLazyEngine(settings, {
      name: 'punctual-controller',
      clock: systemClock,
      ...context,
    })
    const safety = await watchRedis(settings, () => engine.servers.read(), context)
    const cluster = await openCluster({ namespaces: settings, fieldManager: 'punctual-controller' }, context)
    const kinds = openKinds(cluster)
    const metrics = createReconcileMetrics(telemetry.registry)
    const elector = new LeaderElector({
      lock: createLeaseLock(cluster.transport, ownObjectName(settings, 'controller')),
      // A restarted pod keeps its name but is another process.
      identity: `${settings.podName}_${randomBytes(4).toString('hex')}`,
      clock: systemClock,
      logger,
      metrics,
      random: Math.random,
    })
    let manager: ReturnType<typeof startManager> | null = null
    const engineCheck = { name: 'engine', failure: () => manager?.obstacle() ?? null }
    const port = await telemetry.startOpsServer({
      host: settings.host,
      port: settings.opsPort,
      checks: [engine.check, engineCheck, ...Object.values(kinds).map(({ check }) => check)],
      lifeChecks: [{ name: 'leading', failure: () => elector.failure() }],
      lifecycle,
    })
    const events = new SeriesRecorder({
      transport: cluster.transport,
      source: { controller: 'punctual.dev/controller', instance: settings.podName },
      clock: systemClock,
      logger,
      metrics,
      random: Math.random,
      newId: () => randomBytes(5).toString('hex'),
    })
    lifecycle.onStop('events', () => events.stop())
    const parts = { ...context, engine, safety, cluster, leadership: elector, events }
    manager = startManager(settings, { ...parts, kinds, metrics })
    startScaling(settings, { ...parts, teams: kinds.teams })
    leadFirstToken(settings, { leadership: elector, writer: kinds.tokens.writer, logger })
    // Stopped first: this ends the leader epoch and everything that writes in it, then releases the lease.
    lifecycle.onStop('leading', () => elector.stop())
    elector.start()
    logger.info('The controller runs', { opsUrl: baseUrl(settings.host, port) })
  })
}

function openKinds(cluster: Cluster): OwnKinds {
  return {
    queues: cluster.openKind<HttpQueue>(HTTP_QUEUES, QUEUE_INDEXES),
    crons: cluster.openKind<HttpCron>(HTTP_CRONS, CRON_INDEXES, transformCron),
    teams: cluster.openKind<TeamSettings>(TEAM_SETTINGS, {}),
    tokens: cluster.openKind<ApiToken>(API_TOKENS, TOKEN_INDEXES),
    windows: cluster.openKind<MaintenanceWindow>(MAINTENANCE_WINDOWS, WINDOW_INDEXES),
  }
}

/** Writes the ApiToken of PUNCTUAL_TOKEN, if that is set, whenever this process begins to lead. */
function leadFirstToken(
  { token, podNamespace, watchNamespaces }: ControllerSettings,
  {
    leadership,
    ...parts
  }: {
    readonly leadership: Leadership
    readonly writer: ResourceWriter<ApiToken>
    readonly logger: Logger
  },
): void {
  if (token === null) return
  const sha256 = hash('sha256', token, 'hex')
  const namespace = firstTokenNamespace(podNamespace, watchNamespaces)
  leadership.onLead((signal) => keepFirstToken({ ...parts, sha256, namespace, clock: systemClock }, signal))
}
