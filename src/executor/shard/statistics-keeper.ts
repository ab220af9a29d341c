import { PollLoop } from '../poll-loop.ts'
import type { ReaperOptions } from './reaper.ts'

type StatisticsKeeperOptions = Omit<ReaperOptions, 'onWork'>

const KEEP_EVERY_MS = 2_000

/**
 * Keeps the statistics of one shard up to date and, once a minute, has its limits scanned. It is a loop of its own, so
 * that a defect in it keeps no job from being reaped. `stop` waits for the step in progress and begins no other.
 */
export class StatisticsKeeper extends PollLoop {
  readonly #options: StatisticsKeeperOptions

  constructor(options: StatisticsKeeperOptions) {
    const { clock, loops, maintenance } = options
    super({ clock, iterations: loops.of('statistics', maintenance.shard), retryMs: KEEP_EVERY_MS })
    this.#options = options
  }

  override start(): void {
    super.start(KEEP_EVERY_MS * this.#options.random())
  }

  protected override async poll(): Promise<number> {
    await this.#options.maintenance.runMinuteRound()
    return KEEP_EVERY_MS
  }
}
