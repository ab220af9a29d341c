import { StoreUnavailableError, reasonOf } from '../../domain/errors.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { Engine } from '../base/engine/engine.ts'
import { readShardClock, type ShardClock } from '../base/engine/shard-clock.ts'

/** While the clock is behind, a line is logged this often. */
const LOOK_EVERY_MS = 60_000
/** Steps bridge as much (lib/clock.lua): time stands still until the clock has caught up. */
const BRIDGED_MS = 5_000

/**
 * Tells that the clock of Redis was set back, for as long as jobs and crons wait for it to come to where it was: a line
 * each minute that says what to do, and a metric. Owns the timer of the next look.
 *
 *     new → watching (a timer is set or a look is under way) → stopped
 *
 * `stop` waits for nothing.
 */
export class ClockWatch {
  readonly #engine: Engine
  readonly #clock: Pick<Clock, 'after'>
  #isBehind = false
  #isStopped = false
  #cancelTimer = (): void => undefined

  constructor(engine: Engine, clock: Pick<Clock, 'after'>) {
    this.#engine = engine
    this.#clock = clock
  }

  start(): void {
    this.#cancelTimer = this.#clock.after(LOOK_EVERY_MS, () => {
      void this.look().finally(() => {
        if (!this.#isStopped) this.start()
      })
    })
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelTimer()
  }

  /** Never throws. */
  async look(): Promise<void> {
    try {
      this.#tell(await Promise.all(this.#engine.shards.map((keys) => readShardClock(this.#engine, keys))))
    } catch (error) {
      // A Redis that is away is told of by others.
      if (error instanceof StoreUnavailableError) return
      this.#engine.logger.warn('The clock of Redis could not be looked at', { reason: reasonOf(error) })
    }
  }

  #tell(clocks: ReadonlyArray<Pick<ShardClock, 'nowMs' | 'latestMs' | 'heldMs'>>): void {
    const { logger, metrics } = this.#engine
    this.#tellHeld(Math.max(...clocks.map(({ heldMs }) => heldMs)))
    const behind = clocks.map(({ nowMs, latestMs }) => (latestMs ?? 0) - nowMs)
    const mostMs = Math.max(...behind)
    const wasBehind = this.#isBehind
    this.#isBehind = mostMs > BRIDGED_MS
    metrics.clockBehind(this.#isBehind ? mostMs / 1000 : 0)
    if (this.#isBehind) {
      const at = behind.indexOf(mostMs)
      logger.error('The clock of Redis was set back: jobs and crons wait', {
        behindSeconds: Math.round(mostMs / 1000),
        until: new Date(clocks[at]?.latestMs ?? 0).toISOString(),
        shards: behind.flatMap((ms, shard) => (ms > BRIDGED_MS ? [shard] : [])),
        advice:
          'Check the time synchronisation (NTP) of its machine, and set its clock right. See "PunctualClockBehind" in docs/runbooks.md.',
      })
    } else if (wasBehind) {
      logger.info('The clock of Redis has caught up: jobs and crons go on')
    }
  }

  #tellHeld(heldMs: number): void {
    const { logger, metrics } = this.#engine
    metrics.clockHeld(heldMs / 1000)
    if (heldMs === 0) return
    logger.error('The clock of Redis was set back: time is held where it was', {
      heldSeconds: Math.round(heldMs / 1000),
      advice:
        'Set the clock of its machine right, in one step: that ends the hold. If it is right now, set PUNCTUAL_CLOCK_HOLD_SECONDS=0: calls come too early by as much. See "PunctualClockBehind" in docs/runbooks.md.',
    })
  }
}
