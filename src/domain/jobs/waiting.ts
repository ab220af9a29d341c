/** Why a pending job does not run: the first that holds, in this order. */
export const WAIT_REASONS = [
  'not_due',
  'queue_paused',
  'held_by_window',
  'no_executor',
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

/** What is known of a pending job and of what may hold it up. */
export interface WaitFacts {
  /** Redis time, Unix ms. */
  readonly nowMs: number
  readonly dueMs: number
  readonly isActive: boolean
  /** The window that holds the job, and when it closes, null = not known; null = none holds it. */
  readonly hold: { readonly window: string; readonly untilMs: number | null } | null
  /** With a lease, in the job's shard. */
  readonly executors: number
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

function reasonOf({ nowMs, dueMs, isActive, hold, executors, team, queue }: WaitFacts): WaitReason {
  if (dueMs > nowMs) return 'not_due'
  if (!isActive) return 'queue_paused'
  if (hold !== null) return 'held_by_window'
  if (executors === 0) return 'no_executor'
  if (isFull(team)) return 'team_at_limit'
  return isFull(queue) ? 'queue_at_limit' : 'behind'
}

function isFull({ taken, limit }: Occupancy): boolean {
  return limit !== null && taken >= limit
}

/** Nobody knows when somebody resumes a queue or starts an executor. */
function estimate(facts: WaitFacts, reason: WaitReason): number | null {
  const { nowMs, dueMs, isActive, hold, executors, before, endsPerSecond } = facts
  if (!isActive || executors === 0 || (hold !== null && hold.untilMs === null)) return null
  const freeMs = Math.max(nowMs, dueMs, hold?.untilMs ?? 0)
  const isBlocked = reason === 'team_at_limit' || reason === 'queue_at_limit'
  // At a limit one call more has to end.
  const ahead = (before?.jobs ?? 0) + (isBlocked ? 1 : 0)
  if (ahead === 0) return freeMs
  if (endsPerSecond === null || endsPerSecond <= 0) return null
  return Math.round(freeMs + (ahead / endsPerSecond) * 1000)
}
