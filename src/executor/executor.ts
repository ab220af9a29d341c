import { reasonOf } from '../domain/errors.ts'
import type { JobIds } from '../domain/job-ids.ts'
import type { Clock } from '../ports/clock.ts'
import type { CronSource } from '../ports/cron-source.ts'
import type { HttpCaller } from '../ports/http-caller.ts'
import type { JobSource, ShardUpkeep, WakeHints } from '../ports/job-source.ts'
import type { Logger } from '../ports/logger.ts'
import type { Metrics } from '../ports/metrics.ts'
import type { TeamSettingsSource } from '../ports/team-settings.ts'
import { createCallRunner, type CallRunner } from './call-runner.ts'
import { createCallSampler } from './call-sampler.ts'
import { createCronTicker, type CronTicker } from './cron-ticker.ts'
import { createJobPool, type JobPool } from './job-pool.ts'
import { createRescuer, type Rescuer } from './rescuer.ts'
import { createShardWatcher, type ShardWatcher } from './shard-watcher.ts'
import { createTenure, type Tenure } from './tenure.ts'

/**
 * Claims jobs, makes their calls, writes their ends; promotes, ticks crons, rescues and sweeps on the way. Owns: the
 * slots, one tenure at a time, a watcher and a ticker per shard and the rescuer.
 *
 *     new → beginning ⇄ holding (a tenure has its leases) → stopped
 *
 * A tenure that cannot begin or that loses a lease is followed by another, under a new id, until `stop`, which waits
 * for the tenure to leave and for the watchers, the tickers and the rescuer to be at rest.
 */
export interface Executor {
  /** Begins; goes on trying while Redis is away. */
  start(): void
  /** Claims no more at once; calls get `graceMs`, then are given back. Idempotent. */
  stop(graceMs: number): Promise<void>
  /** Whether it holds its leases. */
  isReady(): boolean
}

export interface ExecutorOptions {
  /** Opens this executor id's hold on every shard. */
  openSources(executorId: string): JobSource[]
  readonly upkeeps: readonly ShardUpkeep[]
  readonly crons: readonly CronSource[]
  readonly hints: WakeHints
  readonly caller: HttpCaller
  readonly teams: TeamSettingsSource
  readonly jobIds: JobIds
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  /** Calls open at once. */
  readonly concurrency: number
  newExecutorId(): string
  random(): number
  redisNowMs(shard: number): number
}

const RETRY_START_MS = 500
/** How long claiming rests when this machine cannot open connections. */
const LOCAL_FAULT_PAUSE_MS = 1_000

export function createExecutor(options: ExecutorOptions): Executor {
  return new LeasingExecutor(options)
}

class LeasingExecutor implements Executor {
  readonly #options: ExecutorOptions
  readonly #pool: JobPool
  readonly #runner: CallRunner
  readonly #watchers: readonly ShardWatcher[]
  readonly #tickers: readonly CronTicker[]
  readonly #rescuer: Rescuer
  #pausedUntilMs = 0
  #tenure: Tenure | null = null
  #isReady = false
  #isStopping = false
  #stopping: Promise<void> | null = null
  #cancelRetry: () => void = () => undefined
  #stopHints: () => void = () => undefined
  #running: Promise<void> = Promise.resolve()
  readonly #whenStopping: Promise<void>
  readonly #tellStopping: () => void

  constructor(options: ExecutorOptions) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#whenStopping = promise
    this.#tellStopping = resolve
    const { clock, logger, metrics } = options
    this.#options = options
    this.#pool = createJobPool(options.concurrency)
    this.#pool.onRelease(() => this.#tenure?.slotFreed())
    metrics.callsInFlight(() => this.#pool.busy)
    this.#runner = createCallRunner({
      caller: options.caller,
      teams: options.teams,
      jobIds: options.jobIds,
      sampler: createCallSampler(clock),
      logger,
      metrics,
      onLocalFault: () => {
        this.#pausedUntilMs = clock.monotonicMs() + LOCAL_FAULT_PAUSE_MS
      },
    })
    this.#watchers = options.upkeeps.map((upkeep) =>
      createShardWatcher({
        upkeep,
        clock,
        logger,
        redisNowMs: () => options.redisNowMs(upkeep.shard),
        onRunnable: () => this.#tenure?.wake(upkeep.shard),
      }),
    )
    this.#tickers = options.crons.map((source) =>
      createCronTicker({
        source,
        clock,
        logger,
        random: options.random,
        onRunnable: () => this.#tenure?.wake(source.shard),
      }),
    )
    this.#rescuer = createRescuer({
      upkeeps: options.upkeeps,
      clock,
      logger,
      random: options.random,
      onReaped: (shard) => this.#tenure?.wake(shard),
    })
  }

  start(): void {
    this.#stopHints = this.#options.hints.onWake((shard) => this.#tenure?.wake(shard))
    for (const watcher of this.#watchers) watcher.start()
    for (const ticker of this.#tickers) ticker.start()
    this.#rescuer.start()
    this.#running = this.#run().catch((error: unknown) =>
      this.#options.logger.error('The executor stopped by itself', { reason: reasonOf(error) }),
    )
  }

  stop(graceMs: number): Promise<void> {
    return (this.#stopping ??= this.#stop(graceMs))
  }

  isReady(): boolean {
    return this.#isReady
  }

  async #stop(graceMs: number): Promise<void> {
    this.#isStopping = true
    this.#isReady = false
    this.#cancelRetry()
    this.#stopHints()
    this.#tellStopping()
    await Promise.all([
      this.#tenure?.stop(graceMs),
      this.#rescuer.stop(),
      ...this.#watchers.map((watcher) => watcher.stop()),
      ...this.#tickers.map((ticker) => ticker.stop()),
    ])
    await this.#running
  }

  async #run(): Promise<void> {
    const { logger } = this.#options
    while (!this.#isStopping) {
      const tenure = this.#openTenure()
      this.#tenure = tenure
      try {
        await tenure.start()
      } catch (error) {
        logger.warn('The executor cannot begin; it tries again', { reason: reasonOf(error) })
        await tenure.leave()
        await this.#rest(RETRY_START_MS)
        continue
      }
      if (!this.#isStopping) {
        this.#isReady = true
        logger.info('The executor holds its leases')
        await Promise.race([tenure.lost, this.#whenStopping])
        this.#isReady = false
        if (this.#isStopping) return
      }
      // Lost, or stopped while it began: what Redis gave it since then goes back.
      await tenure.leave()
    }
  }

  #openTenure(): Tenure {
    const { clock, logger, metrics } = this.#options
    const tenure = createTenure({
      sources: this.#options.openSources(this.#options.newExecutorId()),
      pool: this.#pool,
      runner: this.#runner,
      clock,
      logger,
      metrics,
      isPaused: () => clock.monotonicMs() < this.#pausedUntilMs,
    })
    tenure.onNextDue((shard, nextDueMs) => this.#watchers[shard]?.noteNextDue(nextDueMs))
    return tenure
  }

  #rest(ms: number): Promise<void> {
    if (this.#isStopping) return Promise.resolve()
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(ms, resolve)
      this.#cancelRetry = () => {
        cancel()
        resolve()
      }
    })
  }
}
