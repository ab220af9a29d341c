import type { Waiting } from '../../domain/jobs/waiting.ts'
import { timestampOrNull } from '../../domain/timestamp.ts'
import type { Waiting as WireWaiting } from '../generated/wire.ts'

export function toWireWaiting({ reason, facts, estimatedStartMs }: Waiting): WireWaiting {
  const { dueMs, hold, before } = facts
  const full = reason === 'team_at_limit' ? facts.team : reason === 'queue_at_limit' ? facts.queue : null
  const isHeld = reason === 'held_by_window'
  return {
    reason,
    jobs_before: before?.jobs ?? null,
    is_exact: before?.isExact ?? false,
    in_flight: full?.taken ?? null,
    limit: full?.limit ?? null,
    window: isHeld ? (hold?.window ?? null) : null,
    until: timestampOrNull(reason === 'not_due' ? dueMs : isHeld ? (hold?.untilMs ?? null) : null),
    estimated_start_at: timestampOrNull(estimatedStartMs),
  }
}
