import type { Throttle } from './flow.ts'

/** Why a pending job does not run: the first that holds, in this order. */
export const WAIT_REASONS = [
  'not_due',
  'queue_paused',
  'held_by_window',
  'no_executor',
  'circuit_open',
  'target_asks_to_wait',
  'rate_limited',
  'team_at_limit',
  'queue_at_limit',
  'behind',
] as const
export type WaitReason = (typeof WAIT_REASONS)[number]

/** Slots that others have, of which waiting suspects keep theirs, and the most there may be; null = any number. */
export interface Occupancy {
  readonly taken: number
  readonly limit: number | null
}

/** Facts about a pending job and about what may delay it. */
export interface WaitFacts {
  /** Redis time, Unix ms. */
  readonly nowMs: number
  readonly dueMs: number
  readonly isActive: boolean
  /** The window that holds the job, and when it closes, null = not known; null = none holds it. */
  readonly hold: { readonly window: string; readonly untilMs: number | null } | null
  /** Executors that hold a lease in the job's shard. */
  readonly executors: number
  /** What keeps the queue from beginning jobs; null = nothing. */
  readonly throttle: Throttle | null
  /** When the queue's rate lets its next job begin, and each one after it; null = it has no rate limit. */
  readonly rate: { readonly nextMs: number; readonly intervalMs: number } | null
  readonly team: Occupancy
  readonly queue: Occupancy
  /** Ready jobs of the queue that start before it; null while it is not due. */
  readonly before: { readonly jobs: number; readonly isExact: boolean } | null
  /** Jobs of the queue that ended in a second, of late; null = not known. */
  readonly endsPerSecond: number | null
}

export interface Waiting {
  readonly reason: WaitReason
  readonly facts: WaitFacts
  /** null = it cannot be known. */
  readonly estimatedStartMs: number | null
}

export function explainWait(facts: WaitFacts): Waiting {
  const reason = reasonOf(facts)
  return { reason, facts, estimatedStartMs: estimate(facts, reason) }
}

function reasonOf(facts: WaitFacts): WaitReason {
  const { nowMs, dueMs, isActive, hold, throttle, executors, team, queue } = facts
  if (dueMs > nowMs) return 'not_due'
  if (!isActive) return 'queue_paused'
  if (hold !== null) return 'held_by_window'
  if (executors === 0) return 'no_executor'
  if (throttle !== null) return throttle.reason
  if (isFull(team)) return 'team_at_limit'
  if (isFull(queue)) return 'queue_at_limit'
  const beginMs = beginByRate(facts)
  return beginMs !== null && beginMs > nowMs ? 'rate_limited' : 'behind'
}

function isFull({ taken, limit }: Occupancy): boolean {
  return limit !== null && taken >= limit
}

/** When the rate lets the job begin, with those before it; null = no rate limit. */
function beginByRate({ rate, before }: WaitFacts): number | null {
  return rate === null ? null : rate.nextMs + (before?.jobs ?? 0) * rate.intervalMs
}

/** Nobody knows when somebody resumes a queue or starts an executor, or how a try of a target ends. */
function estimate(facts: WaitFacts, reason: WaitReason): number | null {
  const { nowMs, dueMs, isActive, hold, throttle, rate, executors, before, endsPerSecond } = facts
  if (!isActive || executors === 0 || (hold !== null && hold.untilMs === null)) return null
  if (throttle !== null && throttle.untilMs === null) return null
  const freeMs = Math.max(nowMs, dueMs, hold?.untilMs ?? 0, throttle?.untilMs ?? 0)
  if (rate !== null && (throttle !== null || reason === 'rate_limited'))
    return Math.round(Math.max(freeMs, rate.nextMs) + (before?.jobs ?? 0) * rate.intervalMs)
  const isBlocked = reason === 'team_at_limit' || reason === 'queue_at_limit'
  // At a limit one call more has to end.
  const ahead = (before?.jobs ?? 0) + (isBlocked ? 1 : 0)
  if (ahead === 0) return freeMs
  if (endsPerSecond === null || endsPerSecond <= 0) return null
  return Math.round(freeMs + (ahead / endsPerSecond) * 1000)
}
