import type { JobIds } from '../domain/jobs/job-ids.ts'
import type { HttpCaller } from '../ports/http-caller.ts'
import type { WakeHints } from '../ports/jobs.ts'
import type { LoopHealth } from '../ports/loops/loop-health.ts'
import type { Metrics } from '../ports/metrics.ts'
import { NO_CALL_QUOTAS, type CallQuotas } from '../ports/quotas.ts'
import type { Runtime } from '../ports/runtime.ts'
import type { OwnSecretsSource } from '../ports/access/own-secrets.ts'
import type { TeamSettingsSource } from '../ports/settings.ts'
import type { Tracing } from '../ports/tracing/tracing.ts'
import { NO_WINDOWS, type WindowSource } from '../ports/windows.ts'
import { ClaimPause } from './crons/claim-pause.ts'
import { createCallRunner, type CallRunnerOptions } from './calls/call-runner.ts'
import { createCallSampler } from './calls/call-sampler.ts'
import { createDefectNotes } from './defect-notes.ts'
import { ShardWorker, type ShardPorts } from './shard/shard-worker.ts'
import { forNewcomersOf } from '../domain/shares/fair-share.ts'
import type { Shares } from './slots/fair-share.ts'
import { SlotScheduler } from './slots/slot-scheduler.ts'
import { SuspendDetector } from './suspend-detector.ts'

export interface ExecutorCapacity {
  /** Most calls at once for a team that is alone. */
  readonly concurrency: number
  /** Further slots, so that other teams find some while one uses all its concurrency. */
  readonly reserve: number
  /** Memory budget for jobs and responses, bytes. */
  readonly callBytes: number
  readonly shares: Shares
}

export interface ExecutorOptions extends Runtime {
  readonly shards: readonly ShardPorts[]
  readonly hints: WakeHints
  readonly caller: HttpCaller
  readonly teams: TeamSettingsSource & OwnSecretsSource
  /** Left out where no team has a quota of calls. */
  readonly quotas?: CallQuotas
  /** Left out where no maintenance window can exist. */
  readonly windows?: WindowSource
  readonly jobIds: JobIds
  readonly metrics: Metrics
  /** Left out where nothing is recorded. */
  readonly tracing?: Tracing
  readonly loops: LoopHealth
  readonly capacity: ExecutorCapacity
  /** Whether a successful call is recorded. Left out: as many as the bounds allow. */
  readonly keepsSuccess?: CallRunnerOptions['keepsSuccess']
  /** Called for each lease. */
  newExecutorId(): string
  /** 0–1. */
  random(): number
  redisNowMs(shard: number): number
  /** How far the time of Redis is ahead of the real one, by which receivers judge signatures; absent = not at all. */
  readonly aheadMs?: () => number
}

/** How long claiming pauses when this machine cannot open connections. */
const LOCAL_FAULT_PAUSE_MS = 1_000

/**
 * Claims jobs, makes their calls and writes their ends; promotes delayed jobs, ticks crons, reaps and sweeps on the way.
 * Owns the slots, one worker per shard, and the suspend detector.
 *
 *     new → working (each worker holds its shard's lease, or tries to) → stopped
 *
 * A shard that does not answer costs only its own lease. A freeze of this process lets every deadline pass and ends the
 * work on all shards. `stop` waits for the workers.
 */
export class Executor {
  readonly #options: ExecutorOptions
  readonly #scheduler: SlotScheduler
  readonly #workers: ReadonlyMap<number, ShardWorker>
  readonly #suspension: SuspendDetector
  #cancelResume: () => void = () => undefined
  #stopping: Promise<void> | null = null
  /** All leases are held, and this was logged. */
  #holdsAll = false
  #unsubscribe: () => void = () => undefined

  constructor(options: ExecutorOptions) {
    const { capacity, clock, metrics } = options
    this.#options = options
    this.#scheduler = new SlotScheduler({
      slots: capacity.concurrency + capacity.reserve,
      newcomerSlots: forNewcomersOf(capacity.concurrency),
      bytes: capacity.callBytes,
      shares: capacity.shares,
      clock,
      quotas: options.quotas ?? NO_CALL_QUOTAS,
    })
    metrics.callSlots(capacity.concurrency, () => this.#scheduler.busy)
    metrics.shardsHeld(() => this.#shardsHeld())
    const noteDefect = createDefectNotes(options)
    const runCall = createCallRunner({
      ...options,
      noteDefect,
      keepsSuccess: options.keepsSuccess ?? createCallSampler(clock),
      onLocalFault: () => this.#pauseClaims(),
    })
    this.#suspension = new SuspendDetector(clock, options.loops.of('suspension', null), () =>
      this.#confirmLeases(),
    )
    const claimPause = new ClaimPause(this.#scheduler, clock)
    this.#workers = new Map(
      options.shards.map((ports) => [
        ports.shard,
        new ShardWorker({
          ...options,
          ports,
          scheduler: this.#scheduler,
          windows: options.windows ?? NO_WINDOWS,
          runCall,
          noteDefect,
          redisNowMs: () => options.redisNowMs(ports.shard),
          pauseClaims: () => claimPause.begin(),
          onLeaseMade: () => this.#noteLease(),
          onLeaseLost: (isEarly) => {
            this.#holdsAll = false
            if (isEarly) this.#confirmLeases()
          },
          checkSuspended: () => this.#suspension.check(),
        }),
      ]),
    )
  }

  /** Begins. Retries where Redis does not answer. */
  start(): void {
    this.#unsubscribe = this.#options.hints.onWake((shard) => this.#workers.get(shard)?.wake())
    this.#suspension.start()
    for (const worker of this.#workers.values()) worker.start()
  }

  /** Claims no more. Calls get `graceMs` to end; the rest is aborted and released. Idempotent. */
  stop(graceMs: number): Promise<void> {
    return (this.#stopping ??= this.#stop(graceMs))
  }

  /** Whether it holds any lease: one silent shard must not make the whole fleet unready. */
  isReady(): boolean {
    return this.#stopping === null && this.#shardsHeld() > 0
  }

  async #stop(graceMs: number): Promise<void> {
    this.#unsubscribe()
    const workers = [...this.#workers.values()].map((worker) => worker.stop(graceMs))
    await Promise.all([this.#suspension.stop(), ...workers])
    this.#cancelResume()
  }

  #noteLease(): void {
    const [held, of] = [this.#shardsHeld(), this.#workers.size]
    if (held < of) this.#options.logger.debug('The executor holds the lease of a shard', { held, of })
    // Leases made in the same iteration of the event loop are noted one by one, when all are held already.
    else if (!this.#holdsAll) this.#options.logger.info('The executor holds its leases')
    this.#holdsAll = held === of
  }

  #confirmLeases(): void {
    for (const worker of this.#workers.values()) worker.confirmLease()
  }

  #shardsHeld(): number {
    let held = 0
    for (const worker of this.#workers.values()) if (worker.isHolding()) held += 1
    return held
  }

  #pauseClaims(): void {
    this.#scheduler.pause('local_fault')
    this.#cancelResume()
    this.#cancelResume = this.#options.clock.after(LOCAL_FAULT_PAUSE_MS, () =>
      this.#scheduler.resume('local_fault'),
    )
  }
}
