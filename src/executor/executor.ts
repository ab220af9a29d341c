import type { JobIds } from '../domain/job-ids.ts'
import type { Clock } from '../ports/clock.ts'
import type { HttpCaller } from '../ports/http-caller.ts'
import type { JobSource, ShardUpkeep, WakeHints } from '../ports/job-source.ts'
import type { Logger } from '../ports/logger.ts'
import type { Metrics } from '../ports/metrics.ts'
import type { TeamSettingsSource } from '../ports/team-settings.ts'
import { createCallRunner } from './call-runner.ts'
import { createCallSampler } from './call-sampler.ts'
import { createJobPool } from './job-pool.ts'
import { createRescuer } from './rescuer.ts'
import { createShardWatcher } from './shard-watcher.ts'
import { createTenure, type Tenure } from './tenure.ts'

/** Claims jobs, makes their calls, writes their ends; promotes, rescues and sweeps on the way. */
export interface Executor {
  /** Begins; goes on trying while Redis is away. */
  start(): void
  /** Claims no more at once; calls get `graceMs`, then are given back. Idempotent. */
  stop(graceMs: number): Promise<void>
  /** Whether it holds its leases. */
  isReady(): boolean
}

const RETRY_START_MS = 500
/** How long claiming rests when this machine cannot open connections. */
const LOCAL_FAULT_PAUSE_MS = 1_000

export function createExecutor(options: {
  /** Opens this executor id's hold on every shard. */
  openSources(executorId: string): JobSource[]
  upkeeps: readonly ShardUpkeep[]
  hints: WakeHints
  caller: HttpCaller
  teams: TeamSettingsSource
  jobIds: JobIds
  clock: Clock
  logger: Logger
  metrics: Metrics
  /** Calls open at once. */
  concurrency: number
  newExecutorId(): string
  random(): number
  redisNowMs(shard: number): number
}): Executor {
  const { clock, logger, metrics } = options
  const pool = createJobPool(options.concurrency)
  let pausedUntilMs = 0
  let tenure: Tenure | null = null
  let isReady = false
  let isStopping = false
  let stopping: Promise<void> | null = null
  let cancelRetry: () => void = () => undefined

  const runner = createCallRunner({
    caller: options.caller,
    teams: options.teams,
    jobIds: options.jobIds,
    sampler: createCallSampler(clock),
    logger,
    metrics,
    onLocalFault: () => {
      pausedUntilMs = clock.monotonicMs() + LOCAL_FAULT_PAUSE_MS
    },
  })
  const watchers = options.upkeeps.map((upkeep) =>
    createShardWatcher({
      upkeep,
      clock,
      logger,
      redisNowMs: () => options.redisNowMs(upkeep.shard),
      onRunnable: () => tenure?.wake(upkeep.shard),
    }),
  )
  const rescuer = createRescuer({
    upkeeps: options.upkeeps,
    clock,
    logger,
    random: options.random,
    onReaped: (shard) => tenure?.wake(shard),
  })

  pool.onRelease(() => {
    metrics.callsInFlight(pool.busy)
    tenure?.slotFreed()
  })

  async function run(): Promise<void> {
    while (!isStopping) {
      const current = openTenure()
      try {
        await current.start()
      } catch (error) {
        logger.warn('The executor cannot begin; it tries again', { reason: (error as Error).message })
        await current.leave()
        await rest(RETRY_START_MS)
        continue
      }
      tenure = current
      isReady = true
      logger.info('The executor holds its leases')
      await current.lost
      isReady = false
      if (!isStopping) await current.leave()
    }
  }

  function openTenure(): Tenure {
    const current = createTenure({
      sources: options.openSources(options.newExecutorId()),
      pool,
      runner,
      clock,
      logger,
      metrics,
      isPaused: () => clock.monotonicMs() < pausedUntilMs,
    })
    current.onNextDue((shard, nextDueMs) => watchers[shard]?.noteNextDue(nextDueMs))
    return current
  }

  function rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = clock.after(ms, resolve)
      cancelRetry = () => {
        cancel()
        resolve()
      }
    })
  }

  async function stop(graceMs: number): Promise<void> {
    isStopping = true
    isReady = false
    cancelRetry()
    stopHints()
    await Promise.all([tenure?.stop(graceMs), rescuer.stop(), ...watchers.map((watcher) => watcher.stop())])
  }

  let stopHints: () => void = () => undefined

  return {
    start: () => {
      stopHints = options.hints.onWake((shard) => tenure?.wake(shard))
      for (const watcher of watchers) watcher.start()
      rescuer.start()
      run().catch((error: Error) => logger.error('The executor stopped by itself', { reason: error.message }))
    },
    stop: (graceMs) => (stopping ??= stop(graceMs)),
    isReady: () => isReady,
  }
}
