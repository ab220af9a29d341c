import type { TeamQuotas } from '../domain/quotas.ts'
import type { AuditLog } from '../ports/audit-log.ts'
import type { CronStats } from '../ports/crons.ts'
import type { EngineRecord, EventRecorder, Reconciler, SecretReader } from '../ports/kubernetes.ts'
import type { ControllerMetrics } from '../ports/metrics.ts'
import type { EgressPolicy } from '../ports/http-caller.ts'
import type { ChannelHealthReader } from '../ports/notifications.ts'
import type { QueueStats } from '../ports/queues.ts'
import type { TeamStats } from '../ports/quotas.ts'
import type { Clock, Logger } from '../ports/runtime.ts'
import type { LeaderEpochs } from '../ports/settings.ts'
import { queueKeyOf } from '../resources/queue-owner.ts'
import { createResourceAudit } from './audit-log/audited-kinds.ts'
import { createCronCheck } from './crons/cron-check.ts'
import { CronQuota } from './crons/cron-quota.ts'
import { createCronReconciler } from './crons/cron-reconciler.ts'
import { createCronStatusSync } from './crons/cron-status-sync.ts'
import { LeaderSession } from './engine/leader-session.ts'
import {
  BY_QUEUE,
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
import { enqueueOrphanSettings } from './orphans/orphan-settings.ts'
import { OrphanSweep } from './orphans/orphan-sweep.ts'
import { PushedQueues } from './queues/pushed-queues.ts'
import { createQueueCheck } from './queues/queue-check.ts'
import { createQueueReconciler } from './queues/queue-reconciler.ts'
import { createQueueStatusSync } from './queues/queue-status-sync.ts'
import { createTeamReconciler } from './teams/team-reconciler.ts'
import { createTeamStatusSync } from './teams/team-status-sync.ts'
import { createTokenReconciler } from './teams/token-reconciler.ts'
import { createWindowCheck } from './windows/window-check.ts'
import { createWindowReconciler, watchResources } from './windows/window-reconciler.ts'

export interface ManagerParts {
  readonly queues: KindAccess<HttpQueue>
  readonly crons: KindAccess<HttpCron>
  readonly teams: KindAccess<TeamSettings>
  readonly tokens: KindAccess<ApiToken>
  readonly windows: KindAccess<MaintenanceWindow>
  readonly secrets: SecretReader
  /** The quotas of the installation. */
  readonly quotas: TeamQuotas
  /** What channels may reach. */
  readonly egress: EgressPolicy
  readonly epochs: LeaderEpochs
  readonly queueStats: QueueStats
  readonly cronStats: CronStats
  readonly teamStats: TeamStats
  readonly channelHealth: ChannelHealthReader
  readonly record: EngineRecord
  readonly auditLog: AuditLog
  readonly events: EventRecorder
  /** Whether this controller is responsible for a namespace. */
  readonly isWatched: (namespace: string) => boolean
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: ControllerMetrics
}

/** All controllers of a process: one reconciler per kind, and the loops of a leader beside them. */
export interface Manager {
  readonly reconcilers: Readonly<Record<keyof Workqueues, Reconciler>>
  /** Why settings cannot be applied although Redis may answer; null = they can, or Redis is away. */
  obstacle(): string | null
  /** Runs the loops until the signal; resolves when they are at rest. */
  run(signal: AbortSignal): Promise<void>
}

export function createManager(parts: ManagerParts, enqueue: Workqueues): Manager {
  const { queues, crons, teams, tokens, windows } = parts
  const engine = new LeaderSession(parts)
  const loops = createLoops(parts, enqueue)
  const audit = createResourceAudit(parts)
  const shared = { ...parts, engine }
  const cronQuota = new CronQuota({
    ...{ crons: crons.informer, teams: teams.informer, quotas: parts.quotas },
    enqueue: (key) => enqueue.crons(key, 'low'),
    count: (overQuota) => parts.metrics.cronsOverQuota(overQuota),
  })
  watchResources(queues.informer, windows.informer, {
    indexOf: (queue) => resourceIndexOf('HttpQueue', queueKeyOf(queue)),
    enqueue: enqueue.windows,
  })
  watchResources(crons.informer, windows.informer, {
    indexOf: (cron) => resourceIndexOf('HttpCron', keyOf(cron)),
    enqueue: enqueue.windows,
  })
  return {
    reconcilers: {
      queues: createQueueReconciler({
        ...{ ...shared, ...queues, check: createQueueCheck(), orphans: loops.orphanQueues },
        statsOf: (key) => loops.queueStatuses.of(key),
      }),
      crons: createCronReconciler({
        ...{ ...shared, ...crons, check: createCronCheck(), orphans: loops.orphanCrons, quota: cronQuota },
        stateOf: (key) => loops.cronStatuses.of(key),
      }),
      teams: createTeamReconciler({
        ...{ ...shared, ...teams },
        waitingOf: (namespace) => loops.pushedQueues.waitingOf(namespace),
        usageOf: (key) => loops.teamStatuses.of(key),
        failingOf: (key) => loops.teamStatuses.failingOf(key),
      }),
      tokens: createTokenReconciler({ ...shared, ...tokens }),
      windows: createWindowReconciler({
        ...{ ...shared, ...windows, check: createWindowCheck(), enqueue: enqueue.windows },
        ...{ queues: queues.informer, crons: crons.informer },
      }),
    },
    obstacle: () => engine.obstacle(),
    run: async (signal) => {
      const onOpen = (): void => {
        enqueueAll(parts, enqueue)
        loops.orphanQueues.request()
        loops.orphanCrons.request()
        void enqueueOrphanSettings({ ...parts, engine, enqueue }, signal)
      }
      await Promise.all([engine.run(signal, onOpen), runLoops(parts, loops, signal), audit.run(signal)])
    },
  }
}

/** A new or different engine has none of the settings. */
function enqueueAll({ queues, crons, teams, tokens, windows }: ManagerParts, enqueue: Workqueues): void {
  for (const queue of queues.informer.all()) enqueue.queues(queueKeyOf(queue), 'low')
  for (const cron of crons.informer.all()) enqueue.crons(keyOf(cron), 'low')
  for (const settings of teams.informer.all()) enqueue.teams(keyOf(settings), 'low')
  for (const token of tokens.informer.all()) enqueue.tokens(keyOf(token), 'low')
  for (const window of windows.informer.all()) enqueue.windows(keyOf(window), 'low')
}

type Loops = ReturnType<typeof createLoops>

function createLoops(parts: ManagerParts, enqueue: Workqueues) {
  const { queues, crons, teams, queueStats, cronStats, metrics } = parts
  return {
    queueStatuses: createQueueStatusSync({
      ...{ ...parts, ...queues },
      enqueue: (key) => enqueue.queues(key, 'low'),
    }),
    cronStatuses: createCronStatusSync({
      ...{ ...parts, ...crons },
      enqueue: (key) => enqueue.crons(key, 'low'),
    }),
    teamStatuses: createTeamStatusSync({
      ...{ ...parts, ...teams },
      enqueue: (key) => enqueue.teams(key, 'low'),
    }),
    pushedQueues: new PushedQueues({
      ...{ ...parts, ...queues },
      onWaiting: (namespace) => enqueue.teams(`${namespace}/${TEAM_SETTINGS_NAME}`, 'low'),
    }),
    orphanQueues: new OrphanSweep({
      ...{ ...parts, ...queues, what: 'Queues' },
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
      ...{ ...parts, ...crons, what: 'Crons' },
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

/** Starts once the informers have their first list: before, every queue would look like an orphan. */
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
