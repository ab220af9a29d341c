import { reasonOf, StoreUnavailableError } from '../../domain/errors.ts'
import type { CronSource } from '../../ports/crons.ts'
import type { JobSource, ShardMaintenance } from '../../ports/jobs.ts'
import type { LoopIterations } from '../../ports/loops/loop-health.ts'
import type { WindowSource } from '../../ports/windows.ts'
import { CronTicker } from '../crons/cron-ticker.ts'
import type { PollLoop } from '../poll-loop.ts'
import { DelayedPromoter } from './delayed-promoter.ts'
import { ExecutorSession, type ExecutorSessionOptions } from './executor-session.ts'
import { Reaper } from './reaper.ts'
import { StatisticsKeeper } from './statistics-keeper.ts'
import { Sweeper } from './sweeper.ts'

/** One shard's part of the store. */
export interface ShardPorts {
  readonly shard: number
  openSource(executorId: string): JobSource
  readonly maintenance: ShardMaintenance
  readonly crons: CronSource
}

export interface ShardWorkerOptions extends Omit<ExecutorSessionOptions, 'source' | 'onNextDue'> {
  readonly ports: ShardPorts
  newExecutorId(): string
  /** 0–1. */
  random(): number
  readonly windows: WindowSource
  redisNowMs(): number
  onLeaseMade(): void
  /** Claims of this executor wait, within bounds; answers what ends that. */
  pauseClaims(): () => void
}

const REJOIN_MS_MIN = 500
const REJOIN_MS_MAX = 5_000
/** A session that has worked for so long ends a row of sessions that a defect of ours had ended. */
const STEADY_MS = 30_000
/** How long Redis has to take the ends of aborted calls. */
const WRITE_GRACE_MS = 3_000

/**
 * All work of an executor on one shard. It may lose this shard's lease without any effect on other shards. Owns one
 * session at a time, the delayed promoter, the cron ticker, the reaper, the keeper of statistics and the sweeper of the shard.
 *
 *     new → joining ⇄ holding (a session has the lease) → stopped
 *
 * A session that cannot start is retried after 0.5 to 5 s. One that lost its lease aborts its calls, releases what Redis
 * still lists for it, and is replaced by another with a new id: at once, or after a pause that grows if it lost it by a
 * defect of ours, because each session begins its calls anew. `stop` waits for the calls, at most `graceMs`, then for
 * their ends to be written, at most 3 s more, and for the lease and the loops to end.
 */
export class ShardWorker {
  readonly #options: ShardWorkerOptions
  readonly #promoter: DelayedPromoter
  readonly #loops: readonly PollLoop[]
  /** Turns of the loops of joining and of sessions. */
  readonly #iterations: { readonly lease: LoopIterations; readonly session: LoopIterations }
  readonly #stopping: PromiseWithResolvers<void> = Promise.withResolvers()
  #session: ExecutorSession | null = null
  #isStopping = false
  #endPause: () => void = () => undefined
  #running: Promise<void> = Promise.resolve()

  constructor(options: ShardWorkerOptions) {
    const { ports, clock, logger, loops, random } = options
    this.#options = options
    this.#iterations = { lease: loops.of('lease', ports.shard), session: loops.of('session', ports.shard) }
    const onWork = (): void => this.#session?.foundWork()
    const shared = { maintenance: ports.maintenance, clock, logger, loops, random, onWork }
    this.#promoter = new DelayedPromoter({
      ...shared,
      redisNowMs: () => options.redisNowMs(),
      onRunnable: () => this.#session?.nudge(),
    })
    this.#loops = [
      this.#promoter,
      new CronTicker({
        ...shared,
        source: ports.crons,
        windows: options.windows,
        pauseClaims: () => options.pauseClaims(),
      }),
      new Reaper(shared),
      new StatisticsKeeper(shared),
      new Sweeper(shared),
    ]
  }

  start(): void {
    for (const loop of this.#loops) loop.start()
    this.#running = this.#run()
  }

  /** Claims no more. Calls get `graceMs` to end; the rest is aborted and released. */
  async stop(graceMs: number): Promise<void> {
    const { clock } = this.#options
    this.#isStopping = true
    this.#endPause()
    this.#stopping.resolve()
    const session = this.#session
    const cancelAbort = clock.after(graceMs, () => session?.abort())
    const cancelDiscard = clock.after(graceMs + WRITE_GRACE_MS, () => session?.discard())
    const loops = this.#loops.map((loop) => loop.stop())
    await session?.drain()
    cancelAbort()
    cancelDiscard()
    await Promise.all([...loops, this.#running])
    if (session !== null) await this.#leave(session)
  }

  isHolding(): boolean {
    return !this.#isStopping && this.#session?.isHeld() === true
  }

  /** There is something new to claim. */
  wake(): void {
    this.#session?.wake()
  }

  /** Starts nothing until Redis has confirmed the lease. */
  confirmLease(): void {
    this.#session?.confirmLease()
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      const defect = await this.#runSession().catch((error: unknown) => error)
      if (defect !== undefined) await this.#pause(this.#iterations.session.failed(defect) ?? REJOIN_MS_MIN)
    }
  }

  /** Answers the defect by which the lease was lost, if it was one. */
  async #runSession(): Promise<unknown> {
    const { clock, onLeaseMade } = this.#options
    const session = this.#openSession()
    this.#session = session
    const hasStarted = await this.#retry('A shard cannot be joined; retrying', () => session.start())
    if (!hasStarted) return undefined
    onLeaseMade()
    const cancelSteady = clock.after(STEADY_MS, () => this.#iterations.session.succeeded())
    const loss = await Promise.race([session.lost, this.#stopping.promise])
    cancelSteady()
    if (this.#isStopping) return undefined
    // Released under its own id, its jobs are ready at once and do not count as lost.
    await this.#retry('Jobs of a lost lease cannot be released; retrying', () => this.#releaseLost(session))
    return loss?.defect
  }

  #openSession(): ExecutorSession {
    const { ports, newExecutorId, ...shared } = this.#options
    return new ExecutorSession({
      ...shared,
      source: ports.openSource(newExecutorId()),
      onNextDue: (nextDueMs) => this.#promoter.noteNextDue(nextDueMs),
    })
  }

  /** False when it was stopped before it succeeded. */
  async #retry(failure: string, run: () => Promise<void>): Promise<boolean> {
    const { ports, logger } = this.#options
    let pauseMs = REJOIN_MS_MIN
    while (!this.#isStopping) {
      try {
        await run()
        return true
      } catch (error) {
        const backoffMs = this.#iterations.lease.failed(error)
        const level = pauseMs > REJOIN_MS_MIN || backoffMs !== null ? 'debug' : 'warn'
        logger[level](failure, { shard: ports.shard, reason: reasonOf(error) })
        await this.#pause(backoffMs ?? pauseMs)
        pauseMs = Math.min(REJOIN_MS_MAX, pauseMs * 2)
      }
    }
    return false
  }

  async #releaseLost(session: ExecutorSession): Promise<void> {
    try {
      await session.leave()
    } catch (error) {
      if (error instanceof StoreUnavailableError) throw error
      // A retry does not fix this fault, and must not keep the shard without work: the reapers take the jobs.
      const { ports, logger } = this.#options
      const fields = { shard: ports.shard, reason: reasonOf(error) }
      logger.error('Jobs of a lost lease could not be released', fields)
    }
  }

  async #leave(session: ExecutorSession): Promise<void> {
    const { ports, logger } = this.#options
    try {
      await session.leave()
    } catch (error) {
      logger.warn('Some jobs could not be released; other executors take them when the lease has expired', {
        shard: ports.shard,
        reason: reasonOf(error),
      })
    }
  }

  #pause(ms: number): Promise<void> {
    if (this.#isStopping) return Promise.resolve()
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(ms, resolve)
      this.#endPause = () => {
        cancel()
        resolve()
      }
    })
  }
}
