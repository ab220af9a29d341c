import { reasonOf } from '../../domain/errors.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { ExecutorFleet } from '../../ports/kubernetes.ts'

/**
 * Marks of what pods hold, written before a scale-down and beside everything else: nothing waits for them but that
 * scale-down. Owns the one round under way.
 *
 *     none → under way → fresh → none
 */
export interface DeletionCosts {
  /** Whether a scale-down may follow now. */
  areFresh(): boolean
  /** Begins a round, unless one is under way; it ends with the signal, or soon. */
  begin(held: ReadonlyMap<string, number>, signal: AbortSignal): void
  /** Resolves when none is under way. */
  atRest(): Promise<void>
}

/** A round that takes longer is given up. */
const ROUND_MS_MAX = 5_000
/** A scale-down follows its marks within this: at the next look, when the marks have reached every controller. */
const FRESH_MS = 5_000

export function createDeletionCosts(parts: {
  readonly fleet: Pick<ExecutorFleet, 'setDeletionCosts'>
  readonly clock: Clock
  readonly logger: Logger
}): DeletionCosts {
  const { fleet, clock, logger } = parts
  let underWay: Promise<void> | null = null
  let endedAtMs: number | null = null

  /** Without marks a busy pod may be the one to go: it gives its calls back, which is worth a try and no more. */
  async function round(held: ReadonlyMap<string, number>, signal: AbortSignal): Promise<void> {
    const tooLong = new AbortController()
    const cancel = clock.after(ROUND_MS_MAX, () => tooLong.abort())
    try {
      await fleet.setDeletionCosts(held, AbortSignal.any([signal, tooLong.signal]))
    } catch (error) {
      if (!signal.aborted) logger.warn('Busy executors could not be marked', { reason: reasonOf(error) })
    }
    cancel()
    underWay = null
    endedAtMs = clock.monotonicMs()
  }

  return {
    areFresh: () => underWay === null && endedAtMs !== null && clock.monotonicMs() - endedAtMs <= FRESH_MS,
    begin: (held, signal) => {
      underWay ??= round(held, signal)
    },
    atRest: async () => underWay ?? undefined,
  }
}
