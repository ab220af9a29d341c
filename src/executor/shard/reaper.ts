import type { ShardMaintenance } from '../../ports/jobs.ts'
import type { LoopHealth } from '../../ports/loops/loop-health.ts'
import type { Clock } from '../../ports/runtime.ts'
import { PollLoop } from '../poll-loop.ts'

export interface ReaperOptions {
  readonly maintenance: ShardMaintenance
  readonly clock: Clock
  readonly loops: LoopHealth
  /** 0–1; spreads the executors over time. */
  random(): number
  /** Jobs of a dead executor are ready again. */
  onWork(): void
}

const REAP_EVERY_MS = 2_000

/**
 * Releases the jobs of dead executors in one shard. Every executor runs one per shard; several at once do no harm. Owns
 * its loop. `stop` waits for the step in progress and begins no other.
 */
export class Reaper extends PollLoop {
  readonly #options: ReaperOptions

  constructor(options: ReaperOptions) {
    const { clock, loops, maintenance } = options
    super({ clock, iterations: loops.of('reap', maintenance.shard), retryMs: REAP_EVERY_MS })
    this.#options = options
  }

  override start(): void {
    super.start(REAP_EVERY_MS * this.#options.random())
  }

  protected override async poll(): Promise<number> {
    const { maintenance, onWork } = this.#options
    const { jobs } = await maintenance.reap()
    if (jobs > 0) onWork()
    return REAP_EVERY_MS
  }
}
