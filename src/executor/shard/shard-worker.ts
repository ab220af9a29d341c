import { reasonOf, StoreUnavailableError } from '../../domain/errors.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { CronSource } from '../../ports/crons.ts'
import type { JobSource, ShardMaintenance } from '../../ports/jobs.ts'
import type { Metrics } from '../../ports/metrics.ts'
import type { CallRunner } from '../calls/call-runner.ts'
import { createCronTicker, type CronTicker } from '../crons/cron-ticker.ts'
import { createReaper, type Reaper } from './reaper.ts'
import type { ShardNews } from '../shard-news.ts'
import { createExecutorSession, type ExecutorSession, type ShardWorkerOwner } from './executor-session.ts'
import { createDelayedPromoter, type DelayedPromoter } from './delayed-promoter.ts'
import type { SlotScheduler } from '../slots/slot-scheduler.ts'

/**
 * All of an executor's work on one shard; it can lose the lease of this shard, and no other is touched. Owns: one
 * session at a time, the watcher, the ticker and the rescuer of the shard.
 *
 *     new → joining ⇄ holding (a session has the lease) → stopped
 *
 * A session that cannot begin is tried again after 0.5 to 5 s. One whose lease was lost cuts its calls, gives back what
 * Redis says is held still, and is followed by another, under a new id. `stop` waits for the calls, `graceMs` at most,
 * for their ends to be written, 3 s more at most, for the lease to be given up and the loops to be at rest.
 */
export interface ShardWorker extends ShardNews {
  readonly shard: number
  start(): void
  /** Claims no more; calls get `graceMs` to end, the rest is cut and given back. */
  stop(graceMs: number): Promise<void>
  isHolding(): boolean
  /** Nothing is begun until Redis has said that the lease stands. */
  doubt(): void
}

/** What an executor works on in one shard. */
export interface ShardPorts {
  readonly shard: number
  /** Opens this executor id's hold on the shard. */
  openSource(executorId: string): JobSource
  readonly upkeep: ShardMaintenance
  readonly crons: CronSource
}

export interface ShardWorkerOptions {
  readonly ports: ShardPorts
  readonly scheduler: SlotScheduler
  readonly runner: CallRunner
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  newExecutorId(): string
  random(): number
  redisNowMs(): number
  readonly owner: ShardWorkerOwner
}

const REJOIN_MS_MIN = 500
const REJOIN_MS_MAX = 5_000
/** After the calls are cut, Redis has this long to take their ends. */
const WRITE_GRACE_MS = 3_000

export function createShardWorker(options: ShardWorkerOptions): ShardWorker {
  return new RejoiningShardWorker(options)
}

class RejoiningShardWorker implements ShardWorker {
  readonly shard: number
  readonly #options: ShardWorkerOptions
  readonly #watcher: DelayedPromoter
  readonly #ticker: CronTicker
  readonly #rescuer: Reaper
  readonly #whenStopping: Promise<void>
  readonly #tellStopping: () => void
  #session: ExecutorSession | null = null
  #isStopping = false
  #cancelRest: () => void = () => undefined
  #running: Promise<void> = Promise.resolve()

  constructor(options: ShardWorkerOptions) {
    const { ports, clock, logger, random } = options
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#whenStopping = promise
    this.#tellStopping = resolve
    this.shard = ports.shard
    this.#options = options
    const shared = { clock, logger, news: this }
    this.#watcher = createDelayedPromoter({
      ...shared,
      upkeep: ports.upkeep,
      redisNowMs: () => options.redisNowMs(),
    })
    this.#ticker = createCronTicker({ ...shared, source: ports.crons, random })
    this.#rescuer = createReaper({ ...shared, upkeep: ports.upkeep, random })
  }

  start(): void {
    this.#watcher.start()
    this.#ticker.start()
    this.#rescuer.start()
    this.#running = this.#run().catch((error: unknown) =>
      this.#options.logger.error('The work on a shard stopped by itself', {
        shard: this.shard,
        reason: reasonOf(error),
      }),
    )
  }

  async stop(graceMs: number): Promise<void> {
    const { clock } = this.#options
    this.#isStopping = true
    this.#cancelRest()
    this.#tellStopping()
    const session = this.#session
    const cancelCut = clock.after(graceMs, () => session?.cut())
    const cancelDiscard = clock.after(graceMs + WRITE_GRACE_MS, () => session?.discard())
    const loops = [this.#watcher.stop(), this.#ticker.stop(), this.#rescuer.stop()]
    await session?.drain()
    cancelCut()
    cancelDiscard()
    await Promise.all([...loops, this.#running])
    if (session !== null) await this.#leave(session)
  }

  isHolding(): boolean {
    return !this.#isStopping && this.#session?.isHeld() === true
  }

  wake(): void {
    this.#session?.wake()
  }

  nudge(): void {
    this.#session?.nudge()
  }

  doubt(): void {
    this.#session?.doubt()
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      const session = this.#openSession()
      this.#session = session
      const hasBegun = await this.#untilDone('A shard cannot be worked on yet; it is tried again', () =>
        session.start(),
      )
      if (!hasBegun) return
      this.#options.owner.leaseMade()
      await Promise.race([session.lost, this.#whenStopping])
      if (this.#isStopping) return
      // Under its own id still, so that what it holds goes back at once and counts as no loss.
      await this.#untilDone('What was held of a shard cannot be given back yet; it is tried again', () =>
        session.leave().catch((error: unknown) => this.#passOver(error)),
      )
    }
  }

  #openSession(): ExecutorSession {
    const { ports, newExecutorId, ...shared } = this.#options
    return createExecutorSession({
      ...shared,
      source: ports.openSource(newExecutorId()),
      watcher: this.#watcher,
    })
  }

  /** False when it was told to stop before. */
  async #untilDone(failure: string, run: () => Promise<void>): Promise<boolean> {
    const { logger } = this.#options
    let pauseMs = REJOIN_MS_MIN
    while (!this.#isStopping) {
      try {
        await run()
        return true
      } catch (error) {
        const log = pauseMs > REJOIN_MS_MIN ? 'debug' : 'warn'
        logger[log](failure, { shard: this.shard, reason: reasonOf(error) })
        await this.#rest(pauseMs)
        pauseMs = Math.min(REJOIN_MS_MAX, pauseMs * 2)
      }
    }
    return false
  }

  /** A fault that no retry mends must not keep the shard from being worked on: the others take what was held. */
  #passOver(error: unknown): void {
    if (error instanceof StoreUnavailableError) throw error
    this.#options.logger.error('What was held of a shard could not be given back', {
      shard: this.shard,
      reason: reasonOf(error),
    })
  }

  async #leave(session: ExecutorSession): Promise<void> {
    try {
      await session.leave()
    } catch (error) {
      this.#options.logger.warn(
        'Not everything could be given back; the others take it when the lease has run out',
        { shard: this.shard, reason: reasonOf(error) },
      )
    }
  }

  #rest(ms: number): Promise<void> {
    if (this.#isStopping) return Promise.resolve()
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(ms, resolve)
      this.#cancelRest = () => {
        cancel()
        resolve()
      }
    })
  }
}
