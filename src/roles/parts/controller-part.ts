import type {
  ApiToken,
  HttpCron,
  HttpQueue,
  KindAccess,
  MaintenanceWindow,
  TeamSettings,
  Workqueues,
} from '../../controller/kinds.ts'
import { createManager, type Manager } from '../../controller/manager.ts'
import { tokenKeysOf } from '../../controller/teams/token-reconciler.ts'
import { createOwnAddressReader } from '../../kubernetes/fleet/own-address-reader.ts'
import { createEngineRecord } from '../../kubernetes/resources/engine-record.ts'
import { leaderOnlyWriter } from '../../kubernetes/leader-election/leader-only-writer.ts'
import { ReconcileLoop } from '../../kubernetes/workqueue/reconcile-loop.ts'
import { createNamespaceReader } from '../../kubernetes/resources/namespace-reader.ts'
import { createSecretReader } from '../../kubernetes/resources/secret-reader.ts'
import type { StoreSafety } from '../../ports/health.ts'
import type { EventRecorder, Leadership } from '../../ports/kubernetes.ts'
import type { KubeObject } from '../../ports/resource-store.ts'
import type { ReconcileMetrics } from '../../ports/metrics.ts'
import { queueKeyOf } from '../../resources/queue-owner.ts'
import type { ControllerSettings, UninstallSettings } from '../../settings/role-settings.ts'
import { quotasOfSettings } from '../../settings/tables/quota-table.ts'
import { channelEgress } from './engine-part.ts'
import { createControllerMetrics } from '../../telemetry/controller-metrics.ts'
import { systemClock } from '../../telemetry/system-clock.ts'
import type { Cluster, OpenKind } from './cluster-part.ts'
import type { LazyEngine } from './lazy-engine.ts'
import type { Telemetry } from './telemetry-part.ts'

export interface OwnKinds {
  readonly queues: OpenKind<HttpQueue>
  readonly crons: OpenKind<HttpCron>
  readonly teams: OpenKind<TeamSettings>
  readonly tokens: OpenKind<ApiToken>
  readonly windows: OpenKind<MaintenanceWindow>
}

/** Starts the manager: its reconcilers and loops run whenever this process leads. */
export function startManager(
  settings: ControllerSettings,
  parts: {
    readonly telemetry: Telemetry
    readonly engine: LazyEngine
    readonly safety: StoreSafety
    readonly cluster: Cluster
    readonly kinds: OwnKinds
    readonly leadership: Leadership
    readonly events: EventRecorder
    readonly metrics: ReconcileMetrics
  },
): Pick<Manager, 'obstacle'> {
  const { kinds, engine, safety, cluster, leadership, events, metrics } = parts
  const { logger, registry } = parts.telemetry
  const workqueues: Workqueues = {
    queues: (key, priority) => loops.queues.enqueue(key, priority),
    crons: (key, priority) => loops.crons.enqueue(key, priority),
    teams: (key, priority) => loops.teams.enqueue(key, priority),
    tokens: (key, priority) => loops.tokens.enqueue(key, priority),
    windows: (key, priority) => loops.windows.enqueue(key, priority),
  }
  const manager: Manager = createManager(
    {
      queues: whileLeading(kinds.queues, leadership),
      crons: whileLeading(kinds.crons, leadership),
      teams: whileLeading(kinds.teams, leadership),
      tokens: whileLeading(kinds.tokens, leadership),
      windows: whileLeading(kinds.windows, leadership),
      secrets: createSecretReader(cluster.transport),
      quotas: quotasOfSettings(settings),
      egress: channelEgress(settings),
      ownAddresses: createOwnAddressReader({
        transport: cluster.transport,
        namespace: settings.podNamespace,
      }),
      namespaces: createNamespaceReader(cluster.transport),
      ownNamespace: settings.podNamespace,
      epochs: engine.epochs,
      queueStats: engine.queueStats,
      cronStats: engine.cronStats,
      teamStats: engine.teamStats,
      channelHealth: engine.channelHealth,
      auditLog: engine.auditLog,
      safety,
      record: createEngineRecord(cluster.transport, ownObjectName(settings, 'state')),
      events,
      isWatched: (namespace) => cluster.isWatched(namespace),
      onJoin: (listener) => cluster.onJoin(listener),
      clock: systemClock,
      logger,
      metrics: createControllerMetrics(registry),
    },
    workqueues,
  )
  const loops = openLoops(manager.reconcilers, kinds, { leadership, logger, metrics })
  leadership.onLead((signal) => manager.run(signal))
  for (const loop of Object.values(loops)) loop.start()
  return manager
}

function openLoops(
  { queues, crons, teams, tokens, windows }: Manager['reconcilers'],
  kinds: OwnKinds,
  parts: {
    readonly leadership: Leadership
    readonly logger: Telemetry['logger']
    readonly metrics: ReconcileMetrics
  },
) {
  const shared = { ...parts, clock: systemClock, random: Math.random }
  return {
    queues: new ReconcileLoop({
      ...shared,
      ...kinds.queues,
      name: 'httpqueue',
      reconciler: queues,
      keysOf: (queue) => [queueKeyOf(queue)],
    }),
    crons: new ReconcileLoop({ ...shared, ...kinds.crons, name: 'httpcron', reconciler: crons }),
    teams: new ReconcileLoop({ ...shared, ...kinds.teams, name: 'teamsettings', reconciler: teams }),
    tokens: new ReconcileLoop({
      ...shared,
      ...kinds.tokens,
      name: 'apitoken',
      reconciler: tokens,
      keysOf: (token) => tokenKeysOf(kinds.tokens.informer, token),
    }),
    windows: new ReconcileLoop({
      ...shared,
      ...kinds.windows,
      name: 'maintenancewindow',
      reconciler: windows,
    }),
  }
}

/** An object that belongs to this installation alone; several installations may share a namespace. */
export function ownObjectName(
  { podNamespace, instanceName }: Pick<UninstallSettings, 'podNamespace' | 'instanceName'>,
  what: 'controller' | 'state',
): { readonly namespace: string; readonly name: string } {
  return { namespace: podNamespace, name: `${instanceName}-${what}` }
}

function whileLeading<T extends KubeObject>(
  { informer, changes, writer }: OpenKind<T>,
  leadership: Leadership,
): KindAccess<T> {
  return { informer, changes, writer: leaderOnlyWriter(writer, leadership) }
}
