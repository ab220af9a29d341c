import { reasonOf } from '../../domain/errors.ts'
import type { ExecutorFleet } from '../../ports/kubernetes.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'

/** A write that takes longer is given up. */
const WRITE_MS_MAX = 5_000
/** A scale-down must follow within this time. The next check does, when every controller has seen the costs. */
const FRESH_MS = 5_000

/**
 * Sets the deletion costs of pods before a scale-down, which is all that waits for them. Owns the one write under way.
 *
 *     none → writing → fresh → none
 */
export function createDeletionCosts({
  fleet,
  clock,
  logger,
}: {
  readonly fleet: Pick<ExecutorFleet, 'setDeletionCosts'>
  readonly clock: Clock
  readonly logger: Logger
}) {
  let writing: Promise<void> | null = null
  let writtenAtMs: number | null = null

  /** May fail: without costs a busy pod may be removed, which releases its calls. */
  async function write(held: ReadonlyMap<string, number>, signal: AbortSignal): Promise<void> {
    const timeout = new AbortController()
    const cancel = clock.after(WRITE_MS_MAX, () => timeout.abort())
    try {
      await fleet.setDeletionCosts(held, AbortSignal.any([signal, timeout.signal]))
    } catch (error) {
      if (!signal.aborted)
        logger.warn('Deletion costs of executors could not be set', { reason: reasonOf(error) })
    }
    cancel()
    writing = null
    writtenAtMs = clock.monotonicMs()
  }

  return {
    /** Tells whether a scale-down may follow now. */
    areFresh: () => writing === null && writtenAtMs !== null && clock.monotonicMs() - writtenAtMs <= FRESH_MS,
    /** Begins to write, unless a write is under way. @param held calls in flight by pod name */
    begin: (held: ReadonlyMap<string, number>, signal: AbortSignal): void => {
      writing ??= write(held, signal)
    },
    /** Resolves when no write is under way. */
    atRest: async (): Promise<void> => writing ?? undefined,
  }
}
