import type { ShardMaintenance } from '../../ports/jobs.ts'
import type { LoopHealth } from '../../ports/loops/loop-health.ts'
import type { Runtime } from '../../ports/runtime.ts'
import { PollLoop } from '../poll-loop.ts'

export interface DelayedPromoterOptions extends Runtime {
  readonly maintenance: ShardMaintenance
  readonly loops: LoopHealth
  redisNowMs(): number
  /** New jobs are ready. */
  onWork(): void
  /** Jobs are ready, new or not. */
  onRunnable(): void
}

/** A peek costs three small reads. Delays are at least 1 s, so none can start and end between two peeks. */
const PEEK_MS = 500
const RETRY_MS = 200
/**
 * Wait when another executor was faster, or Redis counts the job as due slightly later than our estimate of its time.
 */
const EARLY_WAIT_MS = 1

/**
 * Promotes one shard's delayed jobs the moment they are due, and peeks at the shard in between, because hints may be
 * lost. Owns its loop and the due time of the next delayed job. `stop` waits for the step in progress.
 */
export class DelayedPromoter extends PollLoop {
  readonly #options: DelayedPromoterOptions
  #nextDueMs: number | null = null

  constructor(options: DelayedPromoterOptions) {
    const { clock, loops, maintenance } = options
    super({ clock, iterations: loops.of('promote', maintenance.shard), retryMs: RETRY_MS })
    this.#options = options
  }

  /** A claim saw this due time. */
  noteNextDue(seenMs: number | null): void {
    if (seenMs === null || (this.#nextDueMs !== null && this.#nextDueMs <= seenMs)) return
    this.#nextDueMs = seenMs
    this.wake()
  }

  protected override async poll(): Promise<number> {
    const { maintenance, redisNowMs, onWork, onRunnable } = this.#options
    if (this.#nextDueMs !== null && this.#nextDueMs <= redisNowMs()) {
      const { promoted, nextDueMs } = await maintenance.promote()
      this.#nextDueMs = nextDueMs
      if (promoted === 0) return Math.max(EARLY_WAIT_MS, this.#untilDue())
      onWork()
      return this.#untilDue()
    }
    const { runnable, nextDueMs } = await maintenance.peek()
    this.#nextDueMs = nextDueMs
    if (runnable) onRunnable()
    return this.#untilDue()
  }

  #untilDue(): number {
    if (this.#nextDueMs === null) return PEEK_MS
    return Math.min(PEEK_MS, Math.max(0, this.#nextDueMs - this.#options.redisNowMs()))
  }
}
