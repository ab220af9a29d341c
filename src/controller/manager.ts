import type { TeamQuotas } from '../domain/quotas.ts'
import type { AuditLog } from '../ports/access/audit-log.ts'
import type { CronStats } from '../ports/crons.ts'
import type {
  EngineRecord,
  EventRecorder,
  NamespaceReader,
  OwnAddressReader,
  Reconciler,
  SecretReader,
} from '../ports/kubernetes.ts'
import type { KubeObject } from '../ports/resource-store.ts'
import type { ControllerMetrics } from '../ports/metrics.ts'
import type { EgressBounds, EgressPolicy } from '../ports/http-caller.ts'
import type { StoreSafety } from '../ports/health.ts'
import type { ChannelHealthReader } from '../ports/notifications.ts'
import type { QueueStats } from '../ports/queues.ts'
import type { TeamStats } from '../ports/quotas.ts'
import type { Clock, Logger } from '../ports/runtime.ts'
import type { LeaderEpochs } from '../ports/settings.ts'
import { queueKeyOf } from '../resources/queue-owner.ts'
import { createResourceAudit } from './audit-log/audited-kinds.ts'
import { createCronCheck } from './crons/cron-check.ts'
import { CronQuota } from './crons/cron-quota.ts'
import { CronTargets } from './crons/cron-targets.ts'
import { createCronReconciler } from './crons/cron-reconciler.ts'
import { createCronStatusSync } from './crons/cron-status-sync.ts'
import { keepOwnAddresses } from './egress/own-addresses.ts'
import { LeaderSession } from './engine/leader-session.ts'
import {
  BY_QUEUE,
  BY_RESOURCE,
  keyOf,
  resourceIndexOf,
  TEAM_SETTINGS_NAME,
  type ApiToken,
  type HttpCron,
  type HttpQueue,
  type MaintenanceWindow,
  type KindAccess,
  type TeamSettings,
  type Workqueues,
} from './kinds.ts'
import { NamespaceKeeper } from './namespaces/namespace-keeper.ts'
import { OrphanSettings } from './orphans/orphan-settings.ts'
import { OrphanSweep } from './orphans/orphan-sweep.ts'
import { watchNamed } from './reconcile/watch-named.ts'
import { whileWatched } from './reconcile/while-watched.ts'
import { PushedQueues } from './queues/pushed-queues.ts'
import { createQueueCheck } from './queues/queue-check.ts'
import { createQueueReconciler } from './queues/queue-reconciler.ts'
import { createQueueStatusSync } from './queues/queue-status-sync.ts'
import { keepSecretsSealed } from './secrets/sealed-secrets.ts'
import { SecretPolls } from './secrets/secret-polls.ts'
import { createTeamReconciler } from './teams/team-reconciler.ts'
import { createTeamStatusSync } from './teams/team-status-sync.ts'
import { createTokenReconciler } from './teams/token-reconciler.ts'
import { createWindowCheck } from './windows/window-check.ts'
import { createWindowReconciler } from './windows/window-reconciler.ts'

export interface ManagerParts {
  readonly queues: KindAccess<HttpQueue>
  readonly crons: KindAccess<HttpCron>
  readonly teams: KindAccess<TeamSettings>
  readonly tokens: KindAccess<ApiToken>
  readonly windows: KindAccess<MaintenanceWindow>
  readonly secrets: SecretReader
  /** The quotas of the installation. */
  readonly quotas: TeamQuotas
  /** Bounds what channels may reach. */
  readonly egress: EgressPolicy & EgressBounds
  readonly ownAddresses: OwnAddressReader
  readonly namespaces: NamespaceReader
  readonly ownNamespace: string
  readonly epochs: LeaderEpochs
  readonly queueStats: QueueStats
  readonly cronStats: CronStats
  readonly teamStats: TeamStats
  readonly channelHealth: ChannelHealthReader
  readonly record: EngineRecord
  readonly auditLog: AuditLog
  readonly safety: StoreSafety
  readonly events: EventRecorder
  /** Tells whether this controller is responsible for a namespace. */
  readonly isWatched: (namespace: string) => boolean
  /** Calls the listener when it becomes responsible for a namespace. @returns unsubscribes */
  readonly onJoin: (listener: () => void) => () => void
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: ControllerMetrics
}

/** All controllers of a process: one reconciler per kind, and the loops that only a leader runs. */
export interface Manager {
  readonly reconcilers: Readonly<Record<keyof Workqueues, Reconciler>>
  /** Says why settings cannot be applied although Redis may answer; null = they can, or Redis is away. */
  obstacle(): string | null
  /** Runs the loops until the signal. Resolves when they are at rest. */
  run(signal: AbortSignal): Promise<void>
}

export function createManager(parts: ManagerParts, enqueue: Workqueues): Manager {
  const engine = new LeaderSession(parts)
  const keeper = keepNamespaces(parts, engine, enqueue)
  const admit = (namespace: string): Promise<boolean> => keeper.admit(namespace)
  const loops = createLoops(parts, enqueue, admit)
  const audit = createResourceAudit(parts)
  watchAll(parts, enqueue)
  const orphanSettings = new OrphanSettings({ ...parts, engine, enqueue })
  return {
    reconcilers: createReconcilers(parts, enqueue, { engine, loops, admit }),
    obstacle: () => engine.obstacle(),
    run: async (signal) => {
      // This finds what was deleted while nobody watched.
      const findOrphans = (): void => {
        loops.orphanQueues.request()
        loops.orphanCrons.request()
        void orphanSettings.find(signal)
      }
      const onOpen = (): void => {
        keeper.forgetAll()
        enqueueAll(parts, enqueue)
        findOrphans()
        warnOfRisks(parts, engine)
      }
      const unsubscribe = [
        parts.onJoin(findOrphans),
        parts.safety.onChange(() => {
          enqueueQueues(parts, enqueue)
          warnOfRisks(parts, engine)
        }),
      ]
      await Promise.all([
        engine.run(signal, onOpen),
        runLoops(parts, loops, signal),
        audit.run(signal),
        keeper.run(signal),
        keepOwnAddresses({ ...parts, engine }, signal),
        keepSecretsSealed({ ...parts, engine }, signal),
      ])
      for (const end of unsubscribe) end()
      parts.metrics.leadingEnded()
    },
  }
}

function createReconcilers(
  parts: ManagerParts,
  enqueue: Workqueues,
  {
    engine,
    loops,
    admit,
  }: {
    readonly engine: LeaderSession
    readonly loops: Loops
    readonly admit: (namespace: string) => Promise<boolean>
  },
): Manager['reconcilers'] {
  const { queues, crons, teams, tokens, windows, isWatched } = parts
  const polls = new SecretPolls()
  const shared = { ...parts, engine, polls }
  const cronQuota = new CronQuota({
    crons: crons.informer,
    teams: teams.informer,
    quotas: parts.quotas,
    enqueue: (key) => enqueue.crons(key, 'low'),
    count: (overQuota) => parts.metrics.cronsOverQuota(overQuota),
  })
  const cronTargets = new CronTargets({
    crons: crons.informer,
    teams: teams.informer,
    egress: parts.egress,
    enqueue: (key) => enqueue.crons(key, 'low'),
  })
  const watched = (kind: string, reconciler: Reconciler): Reconciler =>
    whileWatched(reconciler, { isWatched, admit, forget: (key) => void polls.note({ kind, key }, 0) })
  const ofQueues = createQueueReconciler({
    ...shared,
    ...queues,
    check: createQueueCheck(),
    orphans: loops.orphanQueues,
    statsOf: (key) => loops.queueStatuses.of(key),
    readStats: (key) => loops.queueStatuses.refresh(key),
  })
  const ofCrons = createCronReconciler({
    ...shared,
    ...crons,
    check: createCronCheck(),
    orphans: loops.orphanCrons,
    quota: cronQuota,
    targets: cronTargets,
    queues: queues.informer,
    stateOf: (key) => loops.cronStatuses.of(key),
  })
  const ofTeams = createTeamReconciler({
    ...shared,
    ...teams,
    waitingOf: (namespace) => loops.pushedQueues.waitingOf(namespace),
    usageOf: (key) => loops.teamStatuses.of(key),
    failingOf: (key) => loops.teamStatuses.failingOf(key),
  })
  const ofWindows = createWindowReconciler({
    ...shared,
    ...windows,
    check: createWindowCheck(),
    enqueue: enqueue.windows,
    queues: queues.informer,
    crons: crons.informer,
  })
  return {
    queues: watched('HttpQueue', ofQueues),
    crons: watched('HttpCron', ofCrons),
    teams: watched('TeamSettings', ofTeams),
    tokens: watched('ApiToken', createTokenReconciler({ ...shared, ...tokens })),
    windows: watched('MaintenanceWindow', ofWindows),
  }
}

/**
 * The keeper must listen before anybody else, as a resource of a namespace that was made anew must not pass for one of
 * the former namespace.
 */
function keepNamespaces(parts: ManagerParts, engine: LeaderSession, enqueue: Workqueues): NamespaceKeeper {
  const { queues, crons, teams, tokens, windows } = parts
  const informers = [queues, crons, teams, tokens, windows].map(({ informer }) => informer)
  const keeper = new NamespaceKeeper({
    ...parts,
    engine,
    reader: parts.namespaces,
    onErased: (namespace) => enqueueAll(parts, enqueue, namespace),
    inUse: () =>
      new Set(
        informers.flatMap((informer) =>
          Array.from<KubeObject, string>(informer.all(), ({ metadata }) => metadata.namespace),
        ),
      ),
  })
  for (const informer of informers) {
    informer.onChange((_key, before, after) => {
      const namespace = (before === undefined ? after : after === undefined ? before : undefined)?.metadata
        .namespace
      if (namespace !== undefined) keeper.forget(namespace)
    })
  }
  return keeper
}

/** A resource that names another one says in its status whether that exists, so both are watched. */
function watchAll({ queues, crons, windows }: ManagerParts, enqueue: Workqueues): void {
  const ofWindows = { index: BY_RESOURCE, enqueue: enqueue.windows }
  watchNamed(queues.informer, windows.informer, {
    ...ofWindows,
    entryOf: (queue) => resourceIndexOf('HttpQueue', queueKeyOf(queue)),
  })
  watchNamed(crons.informer, windows.informer, {
    ...ofWindows,
    entryOf: (cron) => resourceIndexOf('HttpCron', keyOf(cron)),
  })
  watchNamed(queues.informer, crons.informer, {
    index: BY_QUEUE,
    entryOf: queueKeyOf,
    enqueue: enqueue.crons,
  })
}

/** @param namespace the only one to enqueue; absent = all, since a new or different engine has none of the settings */
function enqueueAll(parts: ManagerParts, enqueue: Workqueues, namespace?: string): void {
  const { crons, teams, tokens, windows } = parts
  const isMeant = ({ metadata }: KubeObject): boolean =>
    namespace === undefined || metadata.namespace === namespace
  enqueueQueues(parts, enqueue, isMeant)
  for (const cron of crons.informer.all()) if (isMeant(cron)) enqueue.crons(keyOf(cron), 'low')
  for (const settings of teams.informer.all()) if (isMeant(settings)) enqueue.teams(keyOf(settings), 'low')
  for (const token of tokens.informer.all()) if (isMeant(token)) enqueue.tokens(keyOf(token), 'low')
  for (const window of windows.informer.all()) if (isMeant(window)) enqueue.windows(keyOf(window), 'low')
}

function enqueueQueues(
  { queues }: ManagerParts,
  enqueue: Workqueues,
  isMeant: (queue: HttpQueue) => boolean = () => true,
): void {
  for (const queue of queues.informer.all()) if (isMeant(queue)) enqueue.queues(queueKeyOf(queue), 'low')
}

/** Reports risks in two ways: in a condition of the queues, and in an Event of the engine's record. */
function warnOfRisks({ safety }: ManagerParts, engine: LeaderSession): void {
  const risks = safety.risks()
  if (risks.length > 0) engine.warn({ reason: 'RedisUnsafe', action: 'WatchRedis', note: risks.join(' ') })
}

type Loops = ReturnType<typeof createLoops>

function createLoops(
  parts: ManagerParts,
  enqueue: Workqueues,
  admit: (namespace: string) => Promise<boolean>,
) {
  const { queues, crons, teams, queueStats, cronStats, metrics } = parts
  return {
    queueStatuses: createQueueStatusSync({
      ...parts,
      ...queues,
      enqueue: (key) => enqueue.queues(key, 'low'),
    }),
    cronStatuses: createCronStatusSync({
      ...parts,
      ...crons,
      enqueue: (key) => enqueue.crons(key, 'low'),
    }),
    teamStatuses: createTeamStatusSync({
      ...parts,
      ...teams,
      enqueue: (key) => enqueue.teams(key, 'low'),
    }),
    pushedQueues: new PushedQueues({
      ...parts,
      ...queues,
      admit,
      onWaiting: (namespace) => enqueue.teams(`${namespace}/${TEAM_SETTINGS_NAME}`, 'low'),
    }),
    orphanQueues: new OrphanSweep({
      ...parts,
      ...queues,
      what: 'Queues',
      readApplied: async (at) => {
        const page = await queueStats.page(at)
        return { refs: page.queues.filter(({ isPushed }) => !isPushed), cursor: page.cursor }
      },
      readKeys: async (namespace) => (await queues.writer.readAll(namespace)).map(queueKeyOf),
      hasResource: (key) => queues.informer.byIndex(BY_QUEUE, key).length > 0,
      enqueue: (key) => enqueue.queues(key, 'high'),
      count: (orphans) => metrics.orphanQueues(orphans),
    }),
    orphanCrons: new OrphanSweep({
      ...parts,
      ...crons,
      what: 'Crons',
      readApplied: async (at) => {
        const page = await cronStats.page(at)
        return { refs: page.crons, cursor: page.cursor }
      },
      readKeys: async (namespace) => (await crons.writer.readAll(namespace)).map(keyOf),
      hasResource: (key) => crons.informer.get(key) !== undefined,
      enqueue: (key) => enqueue.crons(key, 'high'),
      count: (orphans) => metrics.orphanCrons(orphans),
    }),
  }
}

/** Waits for the informers' first list, before which every queue would look like an orphan. */
async function runLoops(
  { queues, crons, teams }: ManagerParts,
  loops: Loops,
  signal: AbortSignal,
): Promise<void> {
  try {
    await Promise.all([queues, crons, teams].map(({ informer }) => informer.whenSynced(signal)))
  } catch (error) {
    if (!signal.aborted) throw error
  }
  await Promise.all(Object.values(loops).map((loop) => loop.run(signal)))
}
