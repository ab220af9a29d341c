import { reasonOf, StorageFullError, StoreUnavailableError } from '../domain/errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { ShardUpkeep } from '../ports/job-source.ts'
import type { Logger } from '../ports/logger.ts'
import { createSignal, type Signal } from './signal.ts'

/**
 * Takes jobs back from lost executors and sweeps what is past its time, one shard after another. Every executor runs
 * one; several at once do no harm. Owns: the loop, and when it sweeps next.
 *
 *     new → running (a round over the shards, then a rest) → stopping → at rest
 *
 * `stop` waits for the shard that is being looked after and begins no other.
 */
export interface Rescuer {
  start(): void
  /** Resolves when the loop is at rest. */
  stop(): Promise<void>
}

export interface RescuerOptions {
  readonly upkeeps: readonly ShardUpkeep[]
  readonly clock: Clock
  readonly logger: Logger
  /** 0–1; spreads the executors' rounds. */
  random(): number
  onReaped(shard: number): void
}

const REAP_EVERY_MS = 2_000
const SWEEP_EVERY_MS = 10_000
/** While a sweep finds more to do it goes on after this pause, so that it never holds Redis for long. */
const SWEEP_PAUSE_MS = 50

export function createRescuer(options: RescuerOptions): Rescuer {
  return new LoopingRescuer(options)
}

class LoopingRescuer implements Rescuer {
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
    const { clock } = this.#options
    let sweepAtMs = clock.monotonicMs() + SWEEP_EVERY_MS * this.#options.random()
    await this.#awake.wait(REAP_EVERY_MS * this.#options.random())
    while (!this.#isStopped) {
      await this.#reapAll()
      if (clock.monotonicMs() >= sweepAtMs) {
        const isMore = await this.#sweepAll()
        sweepAtMs = clock.monotonicMs() + (isMore ? SWEEP_PAUSE_MS : SWEEP_EVERY_MS)
      }
      if (!this.#isStopped) {
        await this.#awake.wait(Math.min(REAP_EVERY_MS, Math.max(0, sweepAtMs - clock.monotonicMs())))
      }
    }
  }

  async #reapAll(): Promise<void> {
    for (const upkeep of this.#options.upkeeps) {
      if (this.#isStopped) return
      const reaped = await this.#attempt('reap', upkeep.shard, () => upkeep.reap())
      if (reaped !== null && reaped.jobs > 0) this.#options.onReaped(upkeep.shard)
    }
  }

  /** Answers whether a shard has more to sweep at once. */
  async #sweepAll(): Promise<boolean> {
    let isMore = false
    for (const upkeep of this.#options.upkeeps) {
      if (this.#isStopped) return false
      const swept = await this.#attempt('sweep', upkeep.shard, () => upkeep.sweep())
      isMore ||= swept?.isMore ?? false
    }
    return isMore
  }

  /**
   * null when it failed: the next round tries again, and the other shards do not wait for it. A Redis that is away or
   * full is told of elsewhere; anything else is told of once as long as it lasts.
   */
  async #attempt<T>(what: string, shard: number, run: () => Promise<T>): Promise<T | null> {
    const place = `${what} of shard ${shard}`
    try {
      const done = await run()
      this.#toldDefects.delete(place)
      return done
    } catch (error) {
      const isOutage = error instanceof StoreUnavailableError || error instanceof StorageFullError
      const log = isOutage || this.#toldDefects.has(place) ? 'debug' : 'error'
      if (!isOutage) this.#toldDefects.add(place)
      this.#options.logger[log]('Upkeep of a shard failed; it is tried again', {
        what,
        shard,
        reason: reasonOf(error),
      })
      return null
    }
  }
}
