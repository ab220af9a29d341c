import { reasonOf, StartupError, StoreUnavailableError, StoreUnreachableError } from '../../domain/errors.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { BacklogReader, QueueStats } from '../../ports/queues.ts'
import type { CronStats } from '../../ports/crons.ts'
import type { WakeHints } from '../../ports/jobs.ts'
import type { LeaderEpochs } from '../../ports/settings.ts'
import type { TeamStats } from '../../ports/quotas.ts'
import { createBacklogReader } from '../../redis/queues/backlog-reader.ts'
import { connectRedis } from '../../redis/client/connection.ts'
import { createCronStats } from '../../redis/crons/cron-stats.ts'
import { createLeaderEpochs } from '../../redis/control/leader-epochs.ts'
import { createQueueStats } from '../../redis/queues/queue-stats.ts'
import { createTeamStats } from '../../redis/quotas/team-usage.ts'
import { subscribeToWakeHints } from '../../redis/client/wake-hints.ts'
import type { ReadinessCheck } from '../../telemetry/ops-server.ts'
import { endWithInstallation, openEngine } from './engine-part.ts'
import { createLifecycle, type Lifecycle } from '../startup/lifecycle.ts'
import { EXECUTOR_COMMAND_TIMEOUT_MS } from './store.ts'
import { redisCheck, type Telemetry } from './telemetry-part.ts'

/**
 * The engine of a role that works without it for a while: resources must be let go, and say what is wrong, also when
 * Redis is not there at the start. Until it is, everything throws StoreUnavailableError.
 */
export interface LazyEngine {
  readonly epochs: LeaderEpochs
  readonly queueStats: QueueStats
  readonly cronStats: CronStats
  readonly teamStats: TeamStats
  readonly backlog: BacklogReader
  readonly hints: WakeHints
  readonly check: ReadinessCheck
}

const OPEN_AGAIN_MS = 2_000
/** How often the log has the same refusal. */
const TOLD_AGAIN_MS = 60_000

type LazyEngineSettings = Parameters<typeof openEngine>[0]

type Role = {
  readonly name: string
  readonly telemetry: Telemetry
  readonly lifecycle: Lifecycle
  readonly clock: Clock
}

/** @throws StartupError when Redis answers and is not one to work with */
export async function openLazyEngine(settings: LazyEngineSettings, role: Role): Promise<LazyEngine> {
  const { logger } = role.telemetry
  const engine = new OpenedLater()
  const refusals = createRepeats(role.clock)
  let cancel = (): void => undefined
  let opened: Lifecycle | null = null
  let isStopped = false
  // Whenever it was opened, it is stopped after all that uses it.
  role.lifecycle.onStop('late engine', async () => {
    isStopped = true
    cancel()
    await opened?.stop()
  })

  async function open(): Promise<void> {
    // Of this attempt alone: what it has opened when it fails is closed again.
    const lifecycle = createLifecycle(logger, {
      signal: new AbortController().signal,
      fail: role.lifecycle.fail,
    })
    try {
      engine.opened(await openParts(settings, { ...role, lifecycle }))
      opened = lifecycle
    } finally {
      if (opened === null || isStopped) await lifecycle.stop()
    }
  }

  function openLater(): void {
    if (isStopped) return
    cancel = role.clock.after(OPEN_AGAIN_MS, () => {
      open().then(
        () => logger.info('Redis answers'),
        (error: unknown) => {
          engine.failed(error)
          const log = isRefusal(error) && refusals.isDue(reasonOf(error)) ? 'error' : 'debug'
          logger[log]('Redis cannot be used yet', { reason: reasonOf(error) })
          openLater()
        },
      )
    })
  }

  try {
    await open()
  } catch (error) {
    if (error instanceof StartupError && !(error instanceof StoreUnreachableError)) throw error
    engine.failed(error)
    logger.warn('Redis does not answer; it is tried again', { reason: reasonOf(error) })
    openLater()
  }
  return engine
}

/** Something answers, and does not become usable by waiting. */
function isRefusal(error: unknown): boolean {
  return error instanceof StoreUnreachableError ? error.isRefusal : error instanceof StartupError
}

/** Trouble that is the same at every attempt is told once in a while. */
function createRepeats(clock: Clock): { isDue(reason: string): boolean } {
  let told: { readonly reason: string; readonly atMs: number } | null = null
  return {
    isDue: (reason) => {
      const nowMs = clock.monotonicMs()
      if (told?.reason === reason && nowMs - told.atMs < TOLD_AGAIN_MS) return false
      told = { reason, atMs: nowMs }
      return true
    },
  }
}

class OpenedLater implements LazyEngine {
  #parts: LazyEngine | null = null
  /** What came of the last attempt. */
  #failure: unknown = null
  readonly #listeners = new Set<(shard: number) => void>()

  readonly epochs: LeaderEpochs = {
    facts: () => this.#use(({ epochs }) => epochs.facts()),
    begin: (earlier) => this.#use(({ epochs }) => epochs.begin(earlier)),
  }
  readonly queueStats: QueueStats = {
    count: (places) => this.#use(({ queueStats }) => queueStats.count(places)),
    pushed: (limit) => this.#use(({ queueStats }) => queueStats.pushed(limit)),
    page: (cursor) => this.#use(({ queueStats }) => queueStats.page(cursor)),
  }
  readonly cronStats: CronStats = {
    read: (places) => this.#use(({ cronStats }) => cronStats.read(places)),
    page: (cursor) => this.#use(({ cronStats }) => cronStats.page(cursor)),
  }
  readonly teamStats: TeamStats = {
    read: (teams) => this.#use(({ teamStats }) => teamStats.read(teams)),
  }
  readonly backlog: BacklogReader = {
    read: (horizonMs, callQuotaOf) => this.#use(({ backlog }) => backlog.read(horizonMs, callQuotaOf)),
  }
  readonly hints: WakeHints = {
    onWake: (listener) => {
      this.#listeners.add(listener)
      return () => this.#listeners.delete(listener)
    },
  }
  readonly check: ReadinessCheck = {
    name: 'redis',
    failure: () => this.#use(({ check }) => check.failure()),
  }

  opened(parts: LazyEngine): void {
    this.#parts = parts
    parts.hints.onWake((shard) => {
      for (const listener of this.#listeners) listener(shard)
    })
  }

  failed(error: unknown): void {
    this.#failure = error
  }

  async #use<T>(run: (parts: LazyEngine) => T | Promise<T>): Promise<T> {
    if (this.#parts === null) throw this.#unavailable()
    return run(this.#parts)
  }

  /** With what is to be mended as its cause, when that is known. */
  #unavailable(): StoreUnavailableError {
    if (!isRefusal(this.#failure)) return new StoreUnavailableError('Redis has not answered yet')
    return new StoreUnavailableError('Redis cannot be used', { cause: this.#failure })
  }
}

async function openParts(settings: LazyEngineSettings, role: Role): Promise<LazyEngine> {
  const commandTimeoutMs = EXECUTOR_COMMAND_TIMEOUT_MS
  const { store, box } = await openEngine(settings, { ...role, commandTimeoutMs })
  await endWithInstallation(store, role.lifecycle)
  const listener = await connectRedis({
    url: settings.redisUrl,
    redisCa: settings.redisCa,
    name: 'punctual-hints',
    commandTimeoutMs,
    logger: role.telemetry.logger,
  })
  role.lifecycle.onStop('hint connection', () => listener.disconnect())
  return {
    epochs: createLeaderEpochs(store.engine, box),
    queueStats: createQueueStats(store.engine),
    cronStats: createCronStats(store.engine),
    teamStats: createTeamStats(store.engine),
    backlog: createBacklogReader(store.engine),
    hints: await subscribeToWakeHints(listener),
    check: redisCheck(store.connection),
  }
}
