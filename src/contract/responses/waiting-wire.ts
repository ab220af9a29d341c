import { THROTTLE_REASONS } from '../../domain/jobs/flow.ts'
import type { Waiting, WaitReason } from '../../domain/jobs/waiting.ts'
import { timestampOrNull } from '../../domain/timestamp.ts'
import type { Waiting as WireWaiting } from '../../../clients/typescript/src/generated/wire.ts'

const THROTTLED: ReadonlySet<WaitReason> = new Set(THROTTLE_REASONS)

export function toWireWaiting({ reason, facts, estimatedStartMs }: Waiting): WireWaiting {
  const { hold, before } = facts
  const full = reason === 'team_at_limit' ? facts.team : reason === 'queue_at_limit' ? facts.queue : null
  const isHeld = reason === 'held_by_window'
  return {
    reason,
    jobs_before: before?.jobs ?? null,
    is_exact: before?.isExact ?? false,
    in_flight: full?.taken ?? null,
    limit: full?.limit ?? null,
    window: isHeld ? (hold?.window ?? null) : null,
    until: timestampOrNull(untilMs(reason, facts)),
    estimated_start_at: timestampOrNull(estimatedStartMs),
  }
}

/** Unix ms; null = the wait has no end that is known. */
function untilMs(reason: WaitReason, { dueMs, hold, throttle }: Waiting['facts']): number | null {
  if (reason === 'not_due') return dueMs
  if (reason === 'held_by_window') return hold?.untilMs ?? null
  return THROTTLED.has(reason) ? (throttle?.untilMs ?? null) : null
}
