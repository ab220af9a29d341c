import { PollLoop } from '../poll-loop.ts'
import type { ReaperOptions } from './reaper.ts'

type StatisticsKeeperOptions = Omit<ReaperOptions, 'onWork'>

const KEEP_EVERY_MS = 2_000

/**
 * Keeps the statistics of one shard: folds, samples and settles what is due. A loop of its own, so that a defect in it
 * keeps no job from being reaped. `stop` waits for the step in progress and begins no other.
 */
export class StatisticsKeeper extends PollLoop {
  readonly #options: StatisticsKeeperOptions

  constructor(options: StatisticsKeeperOptions) {
    const { clock, loops, maintenance } = options
    super({ clock, turns: loops.of('statistics', maintenance.shard), retryMs: KEEP_EVERY_MS })
    this.#options = options
  }

  override start(): void {
    super.start(KEEP_EVERY_MS * this.#options.random())
  }

  protected override async poll(): Promise<number> {
    await this.#options.maintenance.keepStatistics()
    return KEEP_EVERY_MS
  }
}
