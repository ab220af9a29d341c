import { reasonOf, StoreUnavailableError } from '../../domain/errors.ts'
import type { CronSource } from '../../ports/crons.ts'
import type { JobSource, ShardMaintenance } from '../../ports/jobs.ts'
import type { WindowSource } from '../../ports/windows.ts'
import { CronTicker } from '../crons/cron-ticker.ts'
import type { PollLoop } from '../poll-loop.ts'
import { DelayedPromoter } from './delayed-promoter.ts'
import { ExecutorSession, type ExecutorSessionOptions } from './executor-session.ts'
import { Reaper } from './reaper.ts'

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
/** How long Redis has to take the ends of aborted calls. */
const WRITE_GRACE_MS = 3_000

/**
 * All work of an executor on one shard. It may lose this shard's lease without any effect on other shards. Owns one
 * session at a time, the delayed promoter, the cron ticker and the reaper of the shard.
 *
 *     new → joining ⇄ holding (a session has the lease) → stopped
 *
 * A session that cannot start is retried after 0.5 to 5 s. One that lost its lease aborts its calls, releases what Redis
 * still lists for it, and is replaced by another with a new id. `stop` waits for the calls, at most `graceMs`, then for
 * their ends to be written, at most 3 s more, and for the lease and the loops to end.
 */
export class ShardWorker {
  readonly #options: ShardWorkerOptions
  readonly #promoter: DelayedPromoter
  readonly #loops: readonly PollLoop[]
  readonly #stopping: PromiseWithResolvers<void> = Promise.withResolvers()
  #session: ExecutorSession | null = null
  #isStopping = false
  #endPause: () => void = () => undefined
  #running: Promise<void> = Promise.resolve()

  constructor(options: ShardWorkerOptions) {
    const { ports, clock, logger, random } = options
    this.#options = options
    const shared = { maintenance: ports.maintenance, clock, logger, random, onWork: () => this.wake() }
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
    ]
  }

  start(): void {
    const { ports, logger } = this.#options
    for (const loop of this.#loops) loop.start()
    this.#running = this.#run().catch((error: unknown) =>
      logger.error('The work on a shard stopped because of a defect', {
        shard: ports.shard,
        reason: reasonOf(error),
      }),
    )
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
      const session = this.#openSession()
      this.#session = session
      const hasStarted = await this.#retry('A shard cannot be joined; retrying', () => session.start())
      if (!hasStarted) return
      this.#options.onLeaseMade()
      await Promise.race([session.lost, this.#stopping.promise])
      if (this.#isStopping) return
      // Released under its own id, its jobs are ready at once and do not count as lost.
      await this.#retry('Jobs of a lost lease cannot be released; retrying', () => this.#releaseLost(session))
    }
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
        const level = pauseMs > REJOIN_MS_MIN ? 'debug' : 'warn'
        logger[level](failure, { shard: ports.shard, reason: reasonOf(error) })
        await this.#pause(pauseMs)
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
