import type { JobIds } from '../domain/jobs/job-ids.ts'
import { NO_CALL_QUOTAS, type CallQuotas } from '../ports/quotas.ts'
import type { Clock, Logger } from '../ports/runtime.ts'
import type { HttpCaller } from '../ports/http-caller.ts'
import type { WakeHints } from '../ports/jobs.ts'
import type { Metrics } from '../ports/metrics.ts'
import type { TeamSettingsSource } from '../ports/settings.ts'
import { createCallRunner } from './calls/call-runner.ts'
import { createCallSampler } from './calls/call-sampler.ts'
import { seatsOf, type Shares } from './slots/share-rule.ts'
import { createShardWorker, type ShardPorts, type ShardWorker } from './shard/shard-worker.ts'
import type { ShardWorkerOwner } from './shard/executor-session.ts'
import { createSlotScheduler, type SlotScheduler } from './slots/slot-scheduler.ts'
import { createSuspensionWatch, type SuspensionWatch } from './suspension-watch.ts'

/**
 * One executor's period of work: claims jobs, makes their calls, writes their ends; promotes, ticks crons, rescues and
 * sweeps on the way. Owns: the slots, a worker per shard, and the look whether this machine was suspended.
 *
 *     new → working (each worker holds its shard's lease, or tries to) → stopped
 *
 * A shard that is away costs its own lease; only a freeze of this process, which lets every deadline pass, ends the work
 * on all. `stop` waits for the workers.
 */
export interface Executor {
  /** Begins; goes on trying where Redis is away. */
  start(): void
  /** Claims no more at once; calls get `graceMs`, then are given back. Idempotent. */
  stop(graceMs: number): Promise<void>
  /** Whether it holds the lease of a shard: that one is away must not make a whole fleet unready. */
  isReady(): boolean
}

/** What an executor may have open at once. */
export interface ExecutorCapacity {
  /** Calls of a lone team. */
  readonly concurrency: number
  /** Slots on top, so that others find some. */
  readonly reserve: number
  /** Of memory, for jobs and answers. */
  readonly callBytes: number
  readonly shares: Shares
}

export interface ExecutorOptions {
  readonly shards: readonly ShardPorts[]
  readonly hints: WakeHints
  readonly caller: HttpCaller
  readonly teams: TeamSettingsSource
  /** Left out where no team has a quota of calls. */
  readonly quotas?: CallQuotas
  readonly jobIds: JobIds
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly capacity: ExecutorCapacity
  /** One for each lease. */
  newExecutorId(): string
  random(): number
  redisNowMs(shard: number): number
}

/** How long claiming rests when this machine cannot open connections. */
const LOCAL_FAULT_PAUSE_MS = 1_000

export function createExecutor(options: ExecutorOptions): Executor {
  return new SharingExecutor(options)
}

class SharingExecutor implements Executor, ShardWorkerOwner {
  readonly #options: ExecutorOptions
  readonly #scheduler: SlotScheduler
  readonly #workers: ReadonlyMap<number, ShardWorker>
  readonly #suspension: SuspensionWatch
  #cancelPause: () => void = () => undefined
  #stopping: Promise<void> | null = null
  /** All leases are held, and the log says so. */
  #isWhole = false
  #stopHints: () => void = () => undefined

  constructor(options: ExecutorOptions) {
    const { capacity, clock, logger, metrics } = options
    this.#options = options
    this.#scheduler = createSlotScheduler({
      slots: capacity.concurrency + capacity.reserve,
      seats: seatsOf(capacity.concurrency),
      bytes: capacity.callBytes,
      shares: capacity.shares,
      clock,
      quotas: options.quotas ?? NO_CALL_QUOTAS,
    })
    metrics.callsInFlight(() => this.#scheduler.busy)
    metrics.shardsHeld(() => this.#shardsHeld())
    const runner = createCallRunner({
      caller: options.caller,
      teams: options.teams,
      jobIds: options.jobIds,
      sampler: createCallSampler(clock),
      logger,
      metrics,
      onLocalFault: () => this.#pause(),
    })
    this.#suspension = createSuspensionWatch({ clock, onSuspended: () => this.#doubtAll() })
    this.#workers = new Map(
      options.shards.map((ports) => [
        ports.shard,
        createShardWorker({
          ports,
          scheduler: this.#scheduler,
          runner,
          clock,
          logger,
          metrics,
          newExecutorId: options.newExecutorId,
          random: options.random,
          redisNowMs: () => options.redisNowMs(ports.shard),
          owner: this,
        }),
      ]),
    )
  }

  start(): void {
    this.#stopHints = this.#options.hints.onWake((shard) => this.#workers.get(shard)?.wake())
    this.#suspension.start()
    for (const worker of this.#workers.values()) worker.start()
  }

  stop(graceMs: number): Promise<void> {
    return (this.#stopping ??= this.#stop(graceMs))
  }

  isReady(): boolean {
    return this.#stopping === null && this.#shardsHeld() > 0
  }

  leaseMade(): void {
    const [held, of] = [this.#shardsHeld(), this.#workers.size]
    if (held < of) this.#options.logger.debug('The executor holds the lease of a shard', { held, of })
    // Leases answered in one turn are told one after the other, when all are held already.
    else if (!this.#isWhole) this.#options.logger.info('The executor holds its leases')
    this.#isWhole = held === of
  }

  leaseLost(isEarly: boolean): void {
    this.#isWhole = false
    if (isEarly) this.#doubtAll()
  }

  checkSuspension(): void {
    this.#suspension.check()
  }

  async #stop(graceMs: number): Promise<void> {
    this.#stopHints()
    this.#suspension.stop()
    await Promise.all([...this.#workers.values()].map((worker) => worker.stop(graceMs)))
    this.#cancelPause()
  }

  #doubtAll(): void {
    for (const worker of this.#workers.values()) worker.doubt()
  }

  #shardsHeld(): number {
    let held = 0
    for (const worker of this.#workers.values()) if (worker.isHolding()) held += 1
    return held
  }

  #pause(): void {
    const { clock } = this.#options
    this.#scheduler.pause()
    this.#cancelPause()
    this.#cancelPause = clock.after(LOCAL_FAULT_PAUSE_MS, () => this.#scheduler.resume())
  }
}
