import { reasonOf, StartupError, StoreUnavailableError, StoreUnreachableError } from '../../domain/errors.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { AuditLog } from '../../ports/access/audit-log.ts'
import type { BacklogReader, QueueStats } from '../../ports/queues.ts'
import type { CronStats } from '../../ports/crons.ts'
import type { WakeHints } from '../../ports/jobs.ts'
import type { LeaderEpochs } from '../../ports/settings.ts'
import type { ChannelHealthReader } from '../../ports/notifications.ts'
import type { TeamStats } from '../../ports/quotas.ts'
import { createAuditLog } from '../../redis/ledger/audit-log/audit-log.ts'
import { lacksRight } from '../../redis/base/client/faults.ts'
import { createBacklogReader } from '../../redis/jobs/queues/backlog-reader.ts'
import { createCronStats } from '../../redis/crons/cron-stats.ts'
import { createLeaderEpochs } from '../../redis/control/leader-epochs.ts'
import { createChannelHealthReader } from '../../redis/ledger/notifications/delivery-reader.ts'
import { createQueueStats } from '../../redis/jobs/queues/queue-stats.ts'
import { createTeamStats } from '../../redis/ledger/quotas/team-usage.ts'
import type { ReadinessCheck } from '../../telemetry/ops-server.ts'
import { endWithInstallation, openEngine, startCompiledWindows } from './engine-part.ts'
import { lazyPort } from '../startup/lazy-port.ts'
import { createLifecycle, type Lifecycle } from '../startup/lifecycle.ts'
import { EXECUTOR_COMMAND_TIMEOUT_MS, openWakeHints, type Store } from './store.ts'
import { redisCheck, type Telemetry } from './telemetry-part.ts'

/**
 * The engine of a role that starts without it: the controller must remove finalizers and report what is wrong also
 * while Redis is away. Until Redis answers, every method rejects with StoreUnavailableError.
 */
export interface LazyEngine {
  readonly epochs: LeaderEpochs
  readonly queueStats: QueueStats
  readonly cronStats: CronStats
  readonly teamStats: TeamStats
  readonly channelHealth: ChannelHealthReader
  readonly auditLog: AuditLog
  readonly backlog: BacklogReader
  readonly hints: WakeHints
  readonly servers: { read: Store['readServers'] }
  readonly check: ReadinessCheck
}

const RETRY_MS = 2_000
/** The log repeats the same refusal this often. */
const REPEAT_MS = 60_000

type LazyEngineSettings = Parameters<typeof openEngine>[0]

interface Role {
  readonly name: string
  readonly telemetry: Telemetry
  readonly lifecycle: Lifecycle
  readonly clock: Clock
}

/** @throws StartupError when Redis answers and cannot be used */
export async function openLazyEngine(settings: LazyEngineSettings, role: Role): Promise<LazyEngine> {
  const { logger } = role.telemetry
  const isDue = createRepeatLimit(role.clock)
  const listeners = new Set<(shard: number) => void>()
  let opened: Attempt | null = null
  let lastFailure: unknown = null
  let isStopped = false
  let cancel = (): void => undefined
  // Registered before everything that uses the engine, so it stops after all of that, whenever it was opened.
  role.lifecycle.onStop('lazy engine', async () => {
    isStopped = true
    cancel()
    await opened?.lifecycle.stop()
  })

  async function open(): Promise<void> {
    const attempt = await openOnce(settings, role)
    if (isStopped) return attempt.lifecycle.stop()
    opened = attempt
    attempt.engine.hints.onWake((shard) => listeners.forEach((listener) => listener(shard)))
  }

  function retryLater(): void {
    if (isStopped) return
    cancel = role.clock.after(RETRY_MS, () => {
      open().then(
        () => logger.info('Redis answers'),
        (error: unknown) => {
          lastFailure = error
          const log = isRefusal(error) && isDue(reasonOf(error)) ? 'error' : 'debug'
          logger[log]('Redis cannot be used yet', { reason: reasonOf(error) })
          retryLater()
        },
      )
    })
  }

  try {
    await open()
  } catch (error) {
    if (error instanceof StartupError && !(error instanceof StoreUnreachableError)) throw error
    lastFailure = error
    const what = isRefusal(error) ? 'Redis cannot be used yet' : 'Redis does not answer'
    logger.warn(`${what}; trying again`, { reason: reasonOf(error) })
    retryLater()
  }

  return lazyEngine(listeners, () => {
    if (opened === null) throw unavailable(lastFailure)
    return opened.engine
  })
}

/** @param current throws StoreUnavailableError until there is one */
function lazyEngine(listeners: Set<(shard: number) => void>, current: () => LazyEngine): LazyEngine {
  return {
    epochs: lazyPort(() => current().epochs),
    queueStats: lazyPort(() => current().queueStats),
    cronStats: lazyPort(() => current().cronStats),
    teamStats: lazyPort(() => current().teamStats),
    channelHealth: lazyPort(() => current().channelHealth),
    auditLog: lazyPort(() => current().auditLog),
    backlog: lazyPort(() => current().backlog),
    servers: lazyPort(() => current().servers),
    hints: {
      onWake: (listener) => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    },
    check: { name: 'redis', failure: async () => current().check.failure() },
  }
}

/** Whether Redis answered and refused: waiting alone does not help. */
function isRefusal(error: unknown): boolean {
  if (error instanceof StoreUnreachableError) return error.isRefusal
  return error instanceof StartupError || lacksRight(error)
}

function unavailable(lastFailure: unknown): StoreUnavailableError {
  if (!isRefusal(lastFailure)) return new StoreUnavailableError('Redis has not answered yet')
  return new StoreUnavailableError('Redis cannot be used', { cause: lastFailure })
}

/** Lets the same reason through once in a while. */
function createRepeatLimit(clock: Clock): (reason: string) => boolean {
  let last: { readonly reason: string; readonly atMs: number } | null = null
  return (reason) => {
    const atMs = clock.monotonicMs()
    if (last?.reason === reason && atMs - last.atMs < REPEAT_MS) return false
    last = { reason, atMs }
    return true
  }
}

interface Attempt {
  readonly engine: LazyEngine
  /** Stops what the attempt has opened. */
  readonly lifecycle: Lifecycle
}

async function openOnce(settings: LazyEngineSettings, role: Role): Promise<Attempt> {
  const { signal } = new AbortController()
  const lifecycle = createLifecycle(role.telemetry.logger, { signal, fail: role.lifecycle.fail })
  try {
    return { engine: await openParts(settings, { ...role, lifecycle }), lifecycle }
  } catch (error) {
    await lifecycle.stop()
    throw error
  }
}

async function openParts(settings: LazyEngineSettings, role: Role): Promise<LazyEngine> {
  const { store, box } = await openEngine(settings, {
    ...role,
    commandTimeoutMs: EXECUTOR_COMMAND_TIMEOUT_MS,
  })
  await endWithInstallation(store, role.lifecycle)
  const windows = await startCompiledWindows(store, role)
  return {
    epochs: createLeaderEpochs(store.engine, box),
    queueStats: createQueueStats(store.engine, windows),
    cronStats: createCronStats(store.engine),
    teamStats: createTeamStats(store.engine),
    channelHealth: createChannelHealthReader(store.engine),
    auditLog: createAuditLog(store.engine),
    backlog: createBacklogReader(store.engine, windows),
    hints: await openWakeHints(settings, role),
    servers: { read: () => store.readServers() },
    check: redisCheck(store.connection),
  }
}
