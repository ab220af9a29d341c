import { FINISH_BATCH_MAX } from '../domain/limits.ts'
import { StoreUnavailableError } from '../domain/errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { JobSource, WorkEnd } from '../ports/job-source.ts'
import type { Logger } from '../ports/logger.ts'

/**
 * Writes the ends of one shard's work. Owns: ends not yet written. One finish is under way at a time and the next
 * gathers meanwhile, so a batch is a single job when it is quiet and 64 under load. The same batch is sent until
 * Redis answers it, or until `discard`: then the lease is gone and the ends are worth nothing.
 */
export interface Finisher {
  add(end: WorkEnd): void
  /** Whether nothing waits and nothing is under way. */
  isIdle(): boolean
  discard(): void
}

const RETRY_DELAY_MS = 100

export function createFinisher(options: {
  source: JobSource
  clock: Clock
  logger: Logger
  /** The end is written (or refused as stale, or discarded): its slot is free. */
  onSettled(end: WorkEnd, outcome: 'done' | 'stale'): void
  /** A fault that no resend mends. */
  onFault(error: unknown): void
}): Finisher {
  const { source, clock, logger } = options
  let waiting: WorkEnd[] = []
  let isFlushing = false
  let isDiscarding = false

  function startFlush(): void {
    if (isFlushing) return
    isFlushing = true
    // The calls that end in the same turn share a batch.
    setImmediate(() => void flush())
  }

  async function flush(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, FINISH_BATCH_MAX)
      waiting = waiting.slice(FINISH_BATCH_MAX)
      const outcomes = await write(batch)
      batch.forEach((end, i) => options.onSettled(end, outcomes?.[i] ?? 'stale'))
    }
    isFlushing = false
  }

  /** null when the batch was discarded. */
  async function write(batch: readonly WorkEnd[]): Promise<ReadonlyArray<'done' | 'stale'> | null> {
    while (!isDiscarding) {
      try {
        return await source.finish(batch)
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) {
          logger.error('Ended jobs could not be written', { reason: (error as Error).message })
          options.onFault(error)
          return null
        }
        await new Promise<void>((resolve) => clock.after(RETRY_DELAY_MS, resolve))
      }
    }
    return null
  }

  return {
    add: (end) => {
      waiting.push(end)
      startFlush()
    },
    isIdle: () => !isFlushing,
    discard: () => {
      isDiscarding = true
    },
  }
}
