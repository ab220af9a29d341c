/** What keeps ready jobs of a queue from starting, whatever executors are there: the first that holds, in this order. */
export const STOP_REASONS = ['paused', 'held', 'throttled', 'at_limit'] as const
export type StopReason = (typeof STOP_REASONS)[number]

/** Ready jobs that would not start even if every slot of every executor were free. */
export interface StoppedJobs {
  readonly reason: StopReason
  readonly jobs: number
}

/** What decides how many ready jobs of a queue may start now. */
export interface ReadyFacts {
  readonly ready: number
  readonly inFlight: number
  /** null = any number may be in flight. */
  readonly maxParallelism: number | null
  readonly isActive: boolean
  /** A maintenance window holds the queue. */
  readonly isHeld: boolean
  /** How many jobs its rate, its breaker and its target let begin now; null = any number. */
  readonly allowed: number | null
  /** A rate limit is set. */
  readonly hasRate: boolean
  /** Age of the oldest ready job; null = no job is ready, or it is not known. */
  readonly oldestReadyMs: number | null
}

/** Ready jobs, apart by whether anything but a free slot of an executor keeps them from starting. */
export interface ReadySplit {
  readonly startable: number
  /** null = every ready job may start. */
  readonly stopped: StoppedJobs | null
  /** Age of the oldest job that may start; null = there is none, or it is not known. */
  readonly oldestStartableMs: number | null
}

/** Splits by the arithmetic of a claim: waiting suspects keep their slots, and so count as ready and not as in flight. */
export function splitReady(facts: ReadyFacts): ReadySplit {
  const { ready, inFlight, maxParallelism, allowed, hasRate, oldestReadyMs } = facts
  const free = maxParallelism === null ? ready : clamp(maxParallelism - inFlight, ready)
  const within = allowed === null ? free : Math.min(free, allowed)
  const startable = facts.isActive && !facts.isHeld ? within : 0
  const kept = ready - startable
  // Jobs that keep to a rate are old by intention: no executor would have started them sooner.
  const isOnTime = startable === 0 || (hasRate && kept > 0)
  return {
    startable,
    stopped: kept === 0 ? null : { reason: reasonOf(facts, free), jobs: kept },
    oldestStartableMs: isOnTime ? null : oldestReadyMs,
  }
}

function clamp(value: number, most: number): number {
  return Math.max(0, Math.min(most, value))
}

function reasonOf({ isActive, isHeld, allowed }: ReadyFacts, free: number): StopReason {
  if (!isActive) return 'paused'
  if (isHeld) return 'held'
  return allowed === 0 || (allowed !== null && allowed < free) ? 'throttled' : 'at_limit'
}
