import { reasonOf, StorageFullError, StoreUnavailableError } from '../../domain/errors.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { ShardMaintenance } from '../../ports/jobs.ts'
import type { ShardNews } from '../shard-news.ts'
import { createSignal, type Signal } from '../signal.ts'

/**
 * Takes one shard's jobs back from lost executors and sweeps what is past its time there. Every executor runs one for
 * each shard; several at once do no harm. Owns: the loop, and when it sweeps next.
 *
 *     new → running (reaps, now and then sweeps, rests) → stopping → at rest
 *
 * `stop` waits for the step that is under way and begins no other.
 */
export interface Reaper {
  start(): void
  /** Resolves when the loop is at rest. */
  stop(): Promise<void>
}

export interface RescuerOptions {
  readonly upkeep: ShardMaintenance
  readonly clock: Clock
  readonly logger: Logger
  /** 0–1; spreads the executors' rounds. */
  random(): number
  readonly news: ShardNews
}

const REAP_EVERY_MS = 2_000
const SWEEP_EVERY_MS = 10_000
/** While a sweep finds more to do it goes on after this pause, so that it never holds Redis for long. */
const SWEEP_PAUSE_MS = 50

export function createReaper(options: RescuerOptions): Reaper {
  return new LoopingRescuer(options)
}

class LoopingRescuer implements Reaper {
  readonly #options: RescuerOptions
  readonly #awake: Signal
  /** What fails by a defect of ours, and was told. */
  readonly #toldDefects = new Set<string>()
  #isStopped = false
  #loop: Promise<void> = Promise.resolve()

  constructor(options: RescuerOptions) {
    this.#options = options
    this.#awake = createSignal(options.clock)
  }

  start(): void {
    this.#loop = this.#run()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#awake.notify()
    await this.#loop
  }

  async #run(): Promise<void> {
    const { upkeep, news, clock, random } = this.#options
    let sweepAtMs = clock.monotonicMs() + SWEEP_EVERY_MS * random()
    await this.#awake.wait(REAP_EVERY_MS * random())
    while (!this.#isStopped) {
      const reaped = await this.#attempt('reap', () => upkeep.reap())
      if (reaped !== null && reaped.jobs > 0) news.wake()
      if (!this.#isStopped && clock.monotonicMs() >= sweepAtMs) {
        const swept = await this.#attempt('sweep', () => upkeep.sweep())
        sweepAtMs = clock.monotonicMs() + (swept?.isMore === true ? SWEEP_PAUSE_MS : SWEEP_EVERY_MS)
      }
      if (!this.#isStopped) {
        await this.#awake.wait(Math.min(REAP_EVERY_MS, Math.max(0, sweepAtMs - clock.monotonicMs())))
      }
    }
  }

  /**
   * null when it failed: the next round tries again. A Redis that is away or full is told of elsewhere; anything else is
   * told of once as long as it lasts.
   */
  async #attempt<T>(what: string, run: () => Promise<T>): Promise<T | null> {
    const { upkeep, logger } = this.#options
    try {
      const done = await run()
      this.#toldDefects.delete(what)
      return done
    } catch (error) {
      const isOutage = error instanceof StoreUnavailableError || error instanceof StorageFullError
      const log = isOutage || this.#toldDefects.has(what) ? 'debug' : 'error'
      if (!isOutage) this.#toldDefects.add(what)
      logger[log]('Upkeep of a shard failed; it is tried again', {
        what,
        shard: upkeep.shard,
        reason: reasonOf(error),
      })
      return null
    }
  }
}
