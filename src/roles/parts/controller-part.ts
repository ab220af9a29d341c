import type { ApiToken, HttpCron, HttpQueue, TeamSettings } from '../../controller/kinds.ts'
import { createLeading, type Leading, type TurnLines } from '../../controller/manager.ts'
import { createEngineRecord } from '../../kubernetes/resources/engine-record.ts'
import { leaderOnlyWriter } from '../../kubernetes/leader-election/leader-only-writer.ts'
import { ReconcileLoop } from '../../kubernetes/workqueue/reconcile-loop.ts'
import { createSecretReader } from '../../kubernetes/resources/secret-reader.ts'
import type { EventRecorder, KubeObject, Leadership, Reconciler } from '../../ports/kubernetes.ts'
import type { ReconcileMetrics } from '../../ports/metrics.ts'
import { queueKeyOf } from '../../resources/queue-owner.ts'
import { quotasOfSettings, type ControllerSettings } from '../../settings/role-settings.ts'
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
}

/** Gives the reconcilers their turns, and runs the loops beside them, whenever this process leads. */
export function startLeading(
  settings: ControllerSettings,
  parts: {
    readonly telemetry: Telemetry
    readonly engine: LazyEngine
    readonly cluster: Cluster
    readonly kinds: OwnKinds
    readonly leadership: Leadership
    readonly events: EventRecorder
    readonly metrics: ReconcileMetrics
  },
): Pick<Leading, 'obstacle'> {
  const { kinds, engine, cluster, leadership, events } = parts
  const { logger, registry } = parts.telemetry
  const namespaces = settings.watchNamespaces === null ? null : new Set(settings.watchNamespaces)
  const lines: TurnLines = {
    queue: (key, priority) => runners.queue.enqueue(key, priority),
    cron: (key, priority) => runners.cron.enqueue(key, priority),
    team: (key, priority) => runners.team.enqueue(key, priority),
    token: (key, priority) => runners.token.enqueue(key, priority),
  }
  const leading: Leading = createLeading(
    {
      queues: whileLeading(kinds.queues, leadership),
      crons: whileLeading(kinds.crons, leadership),
      teams: whileLeading(kinds.teams, leadership),
      tokens: whileLeading(kinds.tokens, leadership),
      secrets: createSecretReader(cluster.transport),
      quotas: quotasOfSettings(settings),
      epochs: engine.epochs,
      queueStats: engine.queueStats,
      cronStats: engine.cronStats,
      teamStats: engine.teamStats,
      record: createEngineRecord(cluster.transport, ownPlace(settings, 'state')),
      events,
      isWatched: (namespace) => namespaces === null || namespaces.has(namespace),
      clock: systemClock,
      logger,
      metrics: createControllerMetrics(registry),
    },
    lines,
  )
  const open = { leadership, logger, metrics: parts.metrics }
  const runners = {
    queue: openLoop('httpqueue', kinds.queues, leading.queues, open, (queue) => [queueKeyOf(queue)]),
    cron: openLoop('httpcron', kinds.crons, leading.crons, open),
    team: openLoop('teamsettings', kinds.teams, leading.teams, open),
    token: openLoop('apitoken', kinds.tokens, leading.tokens, open, (token) => leading.tokenKeysOf(token)),
  }
  leadership.onLead((signal) => leading.run(signal))
  for (const one of Object.values(runners)) one.start()
  return leading
}

/** @param keysOf where turns are not by the resource's own name */
function openLoop<T extends KubeObject>(
  name: string,
  { view }: OpenKind<T>,
  reconciler: Reconciler,
  parts: {
    readonly leadership: Leadership
    readonly logger: Telemetry['logger']
    readonly metrics: ReconcileMetrics
  },
  keysOf?: (object: T) => readonly string[],
): ReconcileLoop<T> {
  return new ReconcileLoop<T>({
    ...parts,
    name,
    informer: view,
    reconciler,
    keysOf,
    clock: systemClock,
    random: Math.random,
  })
}

/** What the installation keeps for itself, apart from another one of the same namespace. */
export function ownPlace(
  { podNamespace, instanceName }: Pick<ControllerSettings, 'podNamespace' | 'instanceName'>,
  what: 'controller' | 'state',
): { readonly namespace: string; readonly name: string } {
  return { namespace: podNamespace, name: `${instanceName}-${what}` }
}

function whileLeading<T extends KubeObject>(kind: OpenKind<T>, leadership: Leadership): OpenKind<T> {
  return { ...kind, writer: leaderOnlyWriter(kind.writer, leadership) }
}
