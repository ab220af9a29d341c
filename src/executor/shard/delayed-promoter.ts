import { reasonOf } from '../../domain/errors.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { ShardMaintenance } from '../../ports/jobs.ts'
import type { ShardNews } from '../shard-news.ts'
import { createSignal, type Signal } from '../signal.ts'

/**
 * Watches one shard: promotes delayed jobs the moment they are due, and looks now and then whether something can be
 * claimed that no hint told of. Owns: the loop, and when the next delayed job is due, as last seen.
 *
 *     new → running (a look or a promotion, then a rest until the next is due) → stopping → at rest
 *
 * `stop` waits for the look or promotion that is under way.
 */
export interface DelayedPromoter {
  start(): void
  /** Resolves when the loop is at rest. */
  stop(): Promise<void>
  /** A claim saw this due time. */
  noteNextDue(nextDueMs: number | null): void
}

export interface ShardWatcherOptions {
  readonly upkeep: ShardMaintenance
  readonly clock: Clock
  readonly logger: Logger
  redisNowMs(): number
  readonly news: ShardNews
}

/** A look costs three small reads; a delay is at least 1 s, so none falls between two looks. */
const LOOK_MS = 500
const RETRY_MS = 200

export function createDelayedPromoter(options: ShardWatcherOptions): DelayedPromoter {
  return new LoopingShardWatcher(options)
}

class LoopingShardWatcher implements DelayedPromoter {
  readonly #options: ShardWatcherOptions
  readonly #awake: Signal
  #nextDueMs: number | null = null
  #isStopped = false
  #loop: Promise<void> = Promise.resolve()

  constructor(options: ShardWatcherOptions) {
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

  noteNextDue(seenMs: number | null): void {
    if (seenMs === null || (this.#nextDueMs !== null && this.#nextDueMs <= seenMs)) return
    this.#nextDueMs = seenMs
    this.#awake.notify()
  }

  async #run(): Promise<void> {
    const { upkeep, logger } = this.#options
    while (!this.#isStopped) {
      try {
        await this.#step()
      } catch (error) {
        logger.debug('A shard could not be looked at', { shard: upkeep.shard, reason: reasonOf(error) })
        await this.#awake.wait(RETRY_MS)
      }
      if (!this.#isStopped) await this.#awake.wait(this.#untilDue())
    }
  }

  async #step(): Promise<void> {
    const { upkeep } = this.#options
    if (this.#nextDueMs !== null && this.#nextDueMs <= this.#options.redisNowMs()) {
      const { promoted, nextDueMs } = await upkeep.promote()
      this.#nextDueMs = nextDueMs
      if (promoted > 0) this.#options.news.wake()
      return
    }
    const peek = await upkeep.peek()
    this.#nextDueMs = peek.nextDueMs
    if (peek.runnable) this.#options.news.nudge()
  }

  #untilDue(): number {
    if (this.#nextDueMs === null) return LOOK_MS
    return Math.min(LOOK_MS, Math.max(0, this.#nextDueMs - this.#options.redisNowMs()))
  }
}
