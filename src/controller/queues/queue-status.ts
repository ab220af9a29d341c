import type { QueueStatsEntry } from '../../ports/queues.ts'
import { kubernetesTime } from '../../resources/conditions.ts'
import type { HttpQueueStatus } from '../../resources/generated/kinds.ts'
import type { EngineLoss } from '../engine/engine-loss.ts'
import type { HttpQueue } from '../kinds.ts'
import { reconciledStatus, type Unavailable } from '../reconcile/ready-conditions.ts'
import { queueConditions, type QueueOutcome } from './queue-conditions.ts'

export interface QueueFacts {
  /** As read last; null = not yet. */
  readonly stats: QueueStatsEntry | null
  /** What the engine lost recently; null = nothing. */
  readonly loss: EngineLoss | null
  readonly wallMs: number
}

/** The age of the oldest job is computed from two clocks: a smaller difference is no change. */
const OLDEST_SLACK_MS = 5_000

/** The whole status; equal to the one before if nothing has changed. */
export function queueStatus(
  queue: HttpQueue,
  outcome: QueueOutcome | Unavailable,
  facts: QueueFacts,
): HttpQueueStatus {
  return {
    ...(outcome.kind === 'name_taken' ? {} : engineFields(queue.status ?? {}, outcome, facts)),
    ...reconciledStatus<'HttpQueue'>(queue, queueConditions(queue, outcome, facts.loss), facts.wallMs),
  }
}

function engineFields(
  before: HttpQueueStatus,
  outcome: QueueOutcome | Unavailable,
  { stats, wallMs }: QueueFacts,
): Pick<HttpQueueStatus, 'queueId' | 'counts' | 'oldestReadyTime'> {
  const queueId = outcome.kind === 'applied' ? outcome.queueId : before.queueId
  const former = queueId === before.queueId ? before : {}
  // After a delete and re-create, the counts may still be those of the former queue.
  const isCurrent = stats !== null && (outcome.kind !== 'applied' || stats.queueId === queueId)
  const counts = isCurrent ? stats.counts : former.counts
  const oldestReadyTime = isCurrent
    ? oldestTime(former.oldestReadyTime, stats.oldestReadyMs, wallMs)
    : former.oldestReadyTime
  return {
    ...(queueId === undefined ? {} : { queueId }),
    ...(counts === undefined ? {} : { counts }),
    ...(oldestReadyTime === undefined ? {} : { oldestReadyTime }),
  }
}

function oldestTime(before: string | undefined, ageMs: number | null, wallMs: number): string | undefined {
  if (ageMs === null) return undefined
  const sinceMs = wallMs - ageMs
  if (before !== undefined && Math.abs(Date.parse(before) - sinceMs) < OLDEST_SLACK_MS) return before
  return kubernetesTime(sinceMs)
}
