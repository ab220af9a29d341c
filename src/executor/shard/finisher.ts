import { FINISH_BATCH_MAX } from '../../domain/limits.ts'
import { reasonOf, StoreUnavailableError } from '../../domain/errors.ts'
import type { JobSource, WorkEnd } from '../../ports/jobs.ts'
import type { Runtime } from '../../ports/runtime.ts'

/** An end, and what its work holds until the end is settled. */
export interface Ending<Held> {
  readonly end: WorkEnd
  readonly held: Held
}

export interface FinisherOptions<Held> extends Runtime {
  readonly source: JobSource
  /** A batch was written, refused as stale or discarded: its slots can be freed. */
  onSettled(endings: ReadonlyArray<Ending<Held>>, outcomes: ReadonlyArray<'done' | 'stale'>): void
  /** A fault that a retry does not fix. */
  onFault(error: unknown): void
}

const RETRY_DELAY_MS = 100

/**
 * Writes the ends of one shard's jobs in batches. Owns the ends not yet written. One batch is in progress while the next
 * one fills, so batches are small when it is quiet and full under load. A batch is resent until Redis answers, or until
 * `discard`: then the lease has ended and the remaining ends are settled as stale without being sent.
 *
 *     idle ⇄ flushing
 *
 * There is nothing to stop: it is idle once every end is settled.
 */
export class Finisher<Held> {
  readonly #options: FinisherOptions<Held>
  #waiting: Array<Ending<Held>> = []
  #isFlushing = false
  #isDiscarding = false

  constructor(options: FinisherOptions<Held>) {
    this.#options = options
  }

  add(end: WorkEnd, held: Held): void {
    this.#waiting.push({ end, held })
    if (this.#isFlushing) return
    this.#isFlushing = true
    // Calls that end in the same event-loop turn share a batch.
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
      this.#options.onSettled(batch, await this.#write(batch.map(({ end }) => end)))
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
