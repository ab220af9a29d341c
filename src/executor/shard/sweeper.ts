import { PollLoop } from '../poll-loop.ts'
import type { ReaperOptions } from './reaper.ts'

type SweeperOptions = Omit<ReaperOptions, 'onWork'>

const SWEEP_EVERY_MS = 10_000
/** Pause between the pieces of a long sweep, so that it does not block Redis. */
const SWEEP_PAUSE_MS = 50

/** Sweeps what has expired in one shard. A loop of its own, as the reaper's. `stop` waits for the piece in progress. */
export class Sweeper extends PollLoop {
  readonly #options: SweeperOptions

  constructor(options: SweeperOptions) {
    const { clock, loops, maintenance } = options
    super({ clock, iterations: loops.of('sweep', maintenance.shard), retryMs: SWEEP_EVERY_MS })
    this.#options = options
  }

  override start(): void {
    super.start(SWEEP_EVERY_MS * this.#options.random())
  }

  protected override async poll(): Promise<number> {
    const { isMore } = await this.#options.maintenance.sweep()
    return isMore ? SWEEP_PAUSE_MS : SWEEP_EVERY_MS
  }
}
