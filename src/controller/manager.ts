import { reasonOf } from '../domain/errors.ts'
import type { TeamQuotas } from '../domain/quotas.ts'
import type { Clock, Logger } from '../ports/runtime.ts'
import type { CronStats } from '../ports/crons.ts'
import type { ControllerMetrics } from '../ports/metrics.ts'
import type {
  EngineRecord,
  EventRecorder,
  ObjectKey,
  Reconciler,
  Informer,
  ResourceWriter,
  SecretReader,
} from '../ports/kubernetes.ts'
import type { QueueStats } from '../ports/queues.ts'
import type { LeaderEpochs } from '../ports/settings.ts'
import type { TeamStats } from '../ports/quotas.ts'
import { queueKeyOf } from '../resources/queue-owner.ts'
import { createCronCheck } from './crons/cron-check.ts'
import { createCronStatusSync } from './crons/cron-status-sync.ts'
import { createCronQuota } from './crons/cron-quota.ts'
import { createCronReconciler } from './crons/cron-reconciler.ts'
import { createLeaderSession } from './engine/leader-session.ts'
import { BY_QUEUE, keyOf, type ApiToken, type HttpCron, type HttpQueue, type TeamSettings } from './kinds.ts'
import { createOrphanSweep } from './orphans/orphan-sweep.ts'
import { createPushedQueues } from './queues/pushed-queues.ts'
import { createQueueCheck } from './queues/queue-check.ts'
import { createQueueStatusSync } from './queues/queue-status-sync.ts'
import { createQueueReconciler } from './queues/queue-reconciler.ts'
import { createOrphanSettings } from './orphans/orphan-settings.ts'
import { createTeamStatusSync } from './teams/team-status-sync.ts'
import { createTeamReconciler, TEAM_SETTINGS_NAME } from './teams/team-reconciler.ts'
import { BY_HASH, createTokenReconciler } from './teams/token-reconciler.ts'

/** The resources of one kind, as they are known and as they are written. */
export interface KindAccess<T extends HttpQueue | HttpCron | TeamSettings | ApiToken> {
  readonly view: Informer<T>
  readonly writer: ResourceWriter<T>
}

export interface LeadingParts {
  readonly queues: KindAccess<HttpQueue>
  readonly crons: KindAccess<HttpCron>
  readonly teams: KindAccess<TeamSettings>
  readonly tokens: KindAccess<ApiToken>
  readonly secrets: SecretReader
  /** The installation's. */
  readonly quotas: TeamQuotas
  readonly epochs: LeaderEpochs
  readonly queueStats: QueueStats
  readonly cronStats: CronStats
  readonly teamStats: TeamStats
  readonly record: EngineRecord
  readonly events: EventRecorder
  /** Whether resources of this namespace are ours to look at. */
  readonly isWatched: (namespace: string) => boolean
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: ControllerMetrics
}

/** Indexes that the views must have. */
export const QUEUE_INDEXES: Readonly<Record<string, (queue: HttpQueue) => readonly string[]>> = {
  [BY_QUEUE]: (queue) => [queueKeyOf(queue)],
}
export const TOKEN_INDEXES: Readonly<Record<string, (token: ApiToken) => readonly string[]>> = {
  [BY_HASH]: ({ spec }) => [spec.sha256],
}

/** Puts keys in line for the turns of each reconciler. */
export interface TurnLines {
  queue(key: ObjectKey, priority: 'high' | 'low'): void
  cron(key: ObjectKey, priority: 'high' | 'low'): void
  team(key: ObjectKey, priority: 'high' | 'low'): void
  token(key: ObjectKey, priority: 'high' | 'low'): void
}

/** What a leader does: the reconcilers, which are given turns, and the loops beside them. */
export interface Leading {
  readonly queues: Reconciler
  readonly crons: Reconciler
  readonly teams: Reconciler
  readonly tokens: Reconciler
  /** What a token gives a turn to: every token of its hash, for the oldest counts. */
  tokenKeysOf(token: ApiToken): readonly ObjectKey[]
  /** Why settings cannot be put in force though Redis may answer; null = they can, or Redis is away. */
  obstacle(): string | null
  /** The loops of one time of leading; ends with the signal, when none is under way. */
  run(signal: AbortSignal): Promise<void>
}

export function createLeading(parts: LeadingParts, lines: TurnLines): Leading {
  const { queues, crons, teams, tokens } = parts
  const engine = createLeaderSession(parts)
  const loops = createLoops(parts, lines)
  const { counters, sweep, pushed, looks, cronSweep, teamLooks } = loops
  const orphanSettings = createOrphanSettings({ ...parts, engine, lines })
  const lookForOrphans = async (signal: AbortSignal): Promise<void> => {
    try {
      await orphanSettings.look(signal)
    } catch (error) {
      if (signal.aborted) return
      parts.logger.warn('Settings without a resource could not be looked for', { reason: reasonOf(error) })
    }
  }
  /** Everything is compiled anew; what no resource stands for any more is looked for. */
  const onOpen = (signal: AbortSignal): void => {
    for (const queue of queues.view.all()) lines.queue(queueKeyOf(queue), 'low')
    for (const cron of crons.view.all()) lines.cron(keyOf(cron), 'low')
    for (const settings of teams.view.all()) lines.team(keyOf(settings), 'low')
    for (const token of tokens.view.all()) lines.token(keyOf(token), 'low')
    sweep.request()
    cronSweep.request()
    void lookForOrphans(signal)
  }
  const shared = { ...parts, engine }
  const room = createCronQuota({
    ...{ crons: crons.view, teams: teams.view, quotas: parts.quotas },
    enqueue: (key) => lines.cron(key, 'low'),
    count: (beyond) => parts.metrics.cronsOverQuota(beyond),
  })
  return {
    queues: createQueueReconciler({
      ...{ ...shared, ...queues, check: createQueueCheck(), vanished: sweep },
      countsOf: (key) => counters.of(key),
    }),
    crons: createCronReconciler({
      ...{ ...shared, ...crons, check: createCronCheck(), vanished: cronSweep, room },
      stateOf: (key) => looks.of(key),
    }),
    teams: createTeamReconciler({
      ...{ ...shared, ...teams },
      waitingOf: (namespace) => pushed.waitingOf(namespace),
      usageOf: (key) => teamLooks.of(key),
    }),
    tokens: createTokenReconciler({ ...shared, ...tokens }),
    // One that is deleted is in no index any more, and needs its turn all the same.
    tokenKeysOf: (token) => [
      ...new Set([token, ...tokens.view.byIndex(BY_HASH, token.spec.sha256)].map(keyOf)),
    ],
    obstacle: () => engine.obstacle(),
    run: async (signal) => {
      await Promise.all([engine.run(signal, () => onOpen(signal)), loops.run(signal)])
    },
  }
}

/** What goes round beside the turns. */
function createLoops(parts: LeadingParts, lines: TurnLines) {
  const { queues, crons, teams, metrics } = parts
  const shared = { ...parts, ...queues }
  const counters = createQueueStatusSync({ ...shared, enqueue: (key) => lines.queue(key, 'low') })
  const sweep = createOrphanSweep({
    ...{ ...shared, what: 'Queues' },
    page: async (at) => {
      const { queues: all, cursor } = await parts.queueStats.page(at)
      return { places: all.filter(({ isPushed }) => !isPushed), cursor }
    },
    readKeys: async (namespace) => (await queues.writer.readAll(namespace)).map(queueKeyOf),
    hasResource: (key) => queues.view.byIndex(BY_QUEUE, key).length > 0,
    enqueue: (key) => lines.queue(key, 'high'),
    count: (orphans) => metrics.orphanQueues(orphans),
  })
  const onWaiting = (namespace: string): void => lines.team(`${namespace}/${TEAM_SETTINGS_NAME}`, 'low')
  const pushed = createPushedQueues({ ...shared, onWaiting })
  const ofCrons = createCronLoops(parts, lines)
  const teamLooks = createTeamStatusSync({
    ...{ ...parts, ...teams, queueStats: parts.teamStats },
    enqueue: (key) => lines.team(key, 'low'),
  })
  return {
    ...{ counters, sweep, pushed, teamLooks, ...ofCrons },
    /** Before the first list every queue would look as if it had no resource. */
    run: async (signal: AbortSignal): Promise<void> => {
      try {
        await Promise.all([queues, crons, teams].map(({ view }) => view.whenSynced(signal)))
      } catch (error) {
        if (!signal.aborted) throw error
      }
      const { looks, cronSweep } = ofCrons
      const loops = [counters, sweep, pushed, looks, cronSweep, teamLooks]
      await Promise.all(loops.map((loop) => loop.run(signal)))
    },
  }
}

function createCronLoops(parts: LeadingParts, lines: TurnLines) {
  const { crons, cronStats, metrics } = parts
  const shared = { ...parts, ...crons }
  const looks = createCronStatusSync({
    ...{ ...shared, queueStats: cronStats },
    enqueue: (key) => lines.cron(key, 'low'),
  })
  const cronSweep = createOrphanSweep({
    ...{ ...shared, what: 'Crons' },
    page: async (at) => {
      const { crons: places, cursor } = await cronStats.page(at)
      return { places, cursor }
    },
    readKeys: async (namespace) => (await crons.writer.readAll(namespace)).map(keyOf),
    hasResource: (key) => crons.view.get(key) !== undefined,
    enqueue: (key) => lines.cron(key, 'high'),
    count: (orphans) => metrics.orphanCrons(orphans),
  })
  return { looks, cronSweep }
}
