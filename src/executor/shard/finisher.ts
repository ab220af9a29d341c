import { FINISH_BATCH_MAX } from '../../domain/limits.ts'
import { reasonOf, StoreUnavailableError } from '../../domain/errors.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { JobSource, WorkEnd } from '../../ports/jobs.ts'

/**
 * Writes the ends of one shard's work. Owns: ends not yet written. One finish is under way at a time and the next
 * gathers meanwhile, so a batch is a single job when it is quiet and 64 under load. The same batch is sent until
 * Redis answers it, or until `discard`: then the lease is gone and the ends are worth nothing.
 *
 *     idle ⇄ flushing (until nothing waits)
 *
 * After `discard` every end is settled as stale without a word to Redis. There is nothing to stop: it is at rest as
 * soon as every end it was given is settled.
 */
export interface Finisher {
  add(end: WorkEnd): void
  /** Whether nothing waits and nothing is under way. */
  isIdle(): boolean
  discard(): void
}

export interface FinisherOptions {
  readonly source: JobSource
  readonly clock: Clock
  readonly logger: Logger
  /** The ends of a batch are written, refused as stale or discarded: their slots are free. */
  onSettled(ends: readonly WorkEnd[], outcomes: ReadonlyArray<'done' | 'stale'>): void
  /** A fault that no resend mends. */
  onFault(error: unknown): void
}

const RETRY_DELAY_MS = 100

export function createFinisher(options: FinisherOptions): Finisher {
  return new BatchingFinisher(options)
}

class BatchingFinisher implements Finisher {
  readonly #options: FinisherOptions
  #waiting: WorkEnd[] = []
  #isFlushing = false
  #isDiscarding = false

  constructor(options: FinisherOptions) {
    this.#options = options
  }

  add(end: WorkEnd): void {
    this.#waiting.push(end)
    if (this.#isFlushing) return
    this.#isFlushing = true
    // The calls that end in the same turn share a batch.
    this.#options.clock.nextTurn(() => void this.#flush())
  }

  isIdle(): boolean {
    return !this.#isFlushing
  }

  discard(): void {
    this.#isDiscarding = true
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, FINISH_BATCH_MAX)
      this.#waiting = this.#waiting.slice(FINISH_BATCH_MAX)
      this.#options.onSettled(batch, await this.#write(batch))
    }
    this.#isFlushing = false
  }

  async #write(batch: readonly WorkEnd[]): Promise<ReadonlyArray<'done' | 'stale'>> {
    const { source, clock, logger } = this.#options
    while (!this.#isDiscarding) {
      try {
        const outcomes = await source.finish(batch)
        return outcomes.length === batch.length ? outcomes : batch.map((_, i) => outcomes[i] ?? 'stale')
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) {
          logger.error('Ended jobs could not be written', { reason: reasonOf(error) })
          this.#options.onFault(error)
          break
        }
        await new Promise<void>((resolve) => clock.after(RETRY_DELAY_MS, resolve))
      }
    }
    return batch.map(() => 'stale')
  }
}
