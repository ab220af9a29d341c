import { reasonOf, StorageFullError, StoreUnavailableError } from '../../domain/errors.ts'
import type { ShardMaintenance } from '../../ports/jobs.ts'
import type { Runtime } from '../../ports/runtime.ts'
import { PollLoop } from '../poll-loop.ts'

export interface ReaperOptions extends Runtime {
  readonly maintenance: ShardMaintenance
  /** 0–1; spreads the executors over time. */
  random(): number
  /** Jobs of a dead executor are ready again. */
  onWork(): void
}

const REAP_EVERY_MS = 2_000
const SWEEP_EVERY_MS = 10_000
/** Pause between the pieces of a long sweep, so that it does not block Redis. */
const SWEEP_PAUSE_MS = 50

/**
 * Releases the jobs of dead executors in one shard, keeps its statistics, and sweeps what has expired there. Every executor runs one per shard;
 * several at once do no harm. Owns its loop. `stop` waits for the step in progress and begins no other.
 */
export class Reaper extends PollLoop {
  readonly #options: ReaperOptions
  /** Steps that fail because of a defect of ours, and whose failure has been logged. */
  readonly #loggedDefects = new Set<string>()
  #sweepAtMs = 0

  constructor(options: ReaperOptions) {
    super(options.clock)
    this.#options = options
  }

  override start(): void {
    const { clock, random } = this.#options
    this.#sweepAtMs = clock.monotonicMs() + SWEEP_EVERY_MS * random()
    super.start(REAP_EVERY_MS * random())
  }

  protected override async poll(): Promise<number> {
    const { maintenance, clock, onWork } = this.#options
    const reaped = await this.#attempt('reap', () => maintenance.reap())
    if (reaped !== null && reaped.jobs > 0) onWork()
    if (!this.isStopped) await this.#attempt('statistics', () => maintenance.keepStatistics())
    if (!this.isStopped && clock.monotonicMs() >= this.#sweepAtMs) {
      const swept = await this.#attempt('sweep', () => maintenance.sweep())
      this.#sweepAtMs = clock.monotonicMs() + (swept?.isMore === true ? SWEEP_PAUSE_MS : SWEEP_EVERY_MS)
    }
    return Math.min(REAP_EVERY_MS, this.#sweepAtMs - clock.monotonicMs())
  }

  /** null when it failed; the next poll retries. Outages are logged elsewhere, a defect is logged once until it ends. */
  async #attempt<T>(what: string, run: () => Promise<T>): Promise<T | null> {
    const { maintenance, logger } = this.#options
    try {
      const done = await run()
      this.#loggedDefects.delete(what)
      return done
    } catch (error) {
      const isOutage = error instanceof StoreUnavailableError || error instanceof StorageFullError
      const level = isOutage || this.#loggedDefects.has(what) ? 'debug' : 'error'
      if (!isOutage) this.#loggedDefects.add(what)
      const fields = { what, shard: maintenance.shard, reason: reasonOf(error) }
      logger[level]('Maintenance of a shard failed; retrying', fields)
      return null
    }
  }
}
