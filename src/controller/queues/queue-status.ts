import type { QueueStatsEntry } from '../../ports/queues.ts'
import { kubernetesTime, type WantedCondition } from '../../resources/conditions.ts'
import type { HttpQueueStatus } from '../../resources/generated/kinds.ts'
import type { EngineLoss } from '../engine/engine-loss.ts'
import type { HttpQueue } from '../kinds.ts'
import { formerFailing } from '../reconcile/failing-condition.ts'
import { reconciledStatus, type Unavailable } from '../reconcile/ready-conditions.ts'
import { queueConditions, type QueueOutcome } from './queue-conditions.ts'
import { queueFailing, shownFailure } from './queue-failure.ts'
import { throttleFields } from './queue-throttle.ts'

export interface QueueFacts {
  /** The stats that were read last; null = none were read yet. */
  readonly stats: QueueStatsEntry | null
  /** What the engine lost recently; null = nothing. */
  readonly loss: EngineLoss | null
  /** What puts jobs at risk now. */
  readonly risks: readonly string[]
  readonly wallMs: number
}

/** The age of the oldest job is computed from two clocks: a smaller difference is no change. */
const OLDEST_SLACK_MS = 5_000

/** Builds the whole status, which equals the one before if nothing has changed. */
export function queueStatus(
  queue: HttpQueue,
  outcome: QueueOutcome | Unavailable,
  facts: QueueFacts,
): HttpQueueStatus {
  const { stats, loss, risks, wallMs } = facts
  const failing = isCurrent(stats, outcome)
    ? queueFailing(queue.spec, stats.lastFailure)
    : (formerFailing(queue.status?.conditions) as ReadonlyArray<WantedCondition<'HttpQueue'>>)
  const throttle = throttleFields(queue, isCurrent(stats, outcome) ? stats.throttle : undefined, wallMs)
  return {
    ...(outcome.kind === 'name_taken' ? {} : engineFields(queue.status ?? {}, outcome, facts)),
    ...(outcome.kind === 'name_taken' || throttle.shown === undefined ? {} : { throttled: throttle.shown }),
    ...reconciledStatus<'HttpQueue'>(
      queue,
      queueConditions(queue, outcome, {
        loss,
        lostJobs: isCurrent(stats, outcome) ? stats.lostJobs : null,
        risks,
        failing,
        throttle: throttle.condition,
        counts: isCurrent(stats, outcome) ? stats.counts : null,
      }),
      wallMs,
    ),
  }
}

/**
 * Tells whether the stats are of this queue. After a delete and re-create, they may still be those of the former one.
 */
function isCurrent(
  stats: QueueStatsEntry | null,
  outcome: QueueOutcome | Unavailable,
): stats is QueueStatsEntry {
  return stats !== null && (outcome.kind !== 'applied' || stats.queueId === outcome.queueId)
}

function engineFields(
  before: HttpQueueStatus,
  outcome: QueueOutcome | Unavailable,
  { stats, wallMs }: QueueFacts,
): Pick<HttpQueueStatus, 'queueId' | 'counts' | 'oldestReadyTime' | 'lastFailure'> {
  const queueId = outcome.kind === 'applied' ? outcome.queueId : before.queueId
  const former: HttpQueueStatus = queueId === before.queueId ? before : {}
  const { counts, oldestReadyTime, lastFailure } = isCurrent(stats, outcome)
    ? {
        counts: stats.counts,
        oldestReadyTime: oldestTime(former.oldestReadyTime, stats.oldestReadyMs, wallMs),
        lastFailure: shownFailure(former.lastFailure, stats.lastFailure),
      }
    : former
  return {
    ...(queueId === undefined ? {} : { queueId }),
    ...(counts === undefined ? {} : { counts }),
    ...(oldestReadyTime === undefined ? {} : { oldestReadyTime }),
    ...(lastFailure === undefined ? {} : { lastFailure }),
  }
}

function oldestTime(before: string | undefined, ageMs: number | null, wallMs: number): string | undefined {
  if (ageMs === null) return undefined
  const sinceMs = wallMs - ageMs
  if (before !== undefined && Math.abs(Date.parse(before) - sinceMs) < OLDEST_SLACK_MS) return before
  return kubernetesTime(sinceMs)
}
