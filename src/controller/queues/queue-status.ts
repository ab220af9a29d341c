import type { QueueStatsEntry } from '../../ports/queues.ts'
import { mergeConditions } from '../../resources/conditions.ts'
import type { WantedCondition } from '../../resources/conditions.ts'
import type { HttpQueueStatus } from '../../resources/generated/kinds.ts'
import type { EngineLoss } from '../engine/engine-loss.ts'
import type { HttpQueue } from '../kinds.ts'

/** What came of a queue's step. */
export type QueueOutcome =
  | { readonly kind: 'applied'; readonly queueId: number }
  | { readonly kind: 'refused'; readonly problem: string }
  /** @property isPushed made by a push, and so to go as soon as the other one is in force */
  | { readonly kind: 'taken'; readonly by: string; readonly isPushed: boolean }
  /** The engine does not answer: what is in force stays so. */
  | { readonly kind: 'unavailable'; readonly message: string }

export interface QueueFacts {
  /** As counted last; null when it was not yet. */
  readonly queueStats: QueueStatsEntry | null
  /** What the engine lost a while ago; null = nothing. */
  readonly loss: EngineLoss | null
  readonly wallMs: number
}

/** The oldest job's time comes from two clocks: a difference below this is none. */
const OLDEST_SLACK_MS = 5_000

/** The whole status as it is to be; equal to the one before when nothing has changed. */
export function queueStatus(queue: HttpQueue, outcome: QueueOutcome, facts: QueueFacts): HttpQueueStatus {
  const generation = queue.metadata.generation ?? 0
  const before = queue.status ?? {}
  return {
    observedGeneration: generation,
    ...engineFields(before, outcome, facts),
    conditions: mergeConditions<'HttpQueue'>(before.conditions ?? [], conditionsOf(queue, outcome, facts), {
      generation,
      wallMs: facts.wallMs,
    }),
  }
}

/** What the engine knows of the queue: nothing where the name is another's. */
function engineFields(
  before: HttpQueueStatus,
  outcome: QueueOutcome,
  { queueStats, wallMs }: QueueFacts,
): Pick<HttpQueueStatus, 'queueId' | 'counts' | 'oldestReadyTime'> {
  if (outcome.kind === 'taken') return {}
  const queueId = outcome.kind === 'applied' ? outcome.queueId : before.queueId
  const isSame = queueId === before.queueId
  // Counts of a queue that was deleted and made again speak of the former one.
  const counted = queueStats !== null && (outcome.kind !== 'applied' || queueStats.queueId === queueId)
  const kept = {
    counts: isSame ? before.counts : undefined,
    oldestReadyTime: isSame ? before.oldestReadyTime : undefined,
  }
  const fresh = counted
    ? {
        counts: queueStats.counts,
        oldestReadyTime: oldestTime(kept.oldestReadyTime, queueStats.oldestReadyMs, wallMs),
      }
    : kept
  return {
    ...(queueId === undefined ? {} : { queueId }),
    ...(fresh.counts === undefined ? {} : { counts: fresh.counts }),
    ...(fresh.oldestReadyTime === undefined ? {} : { oldestReadyTime: fresh.oldestReadyTime }),
  }
}

function oldestTime(before: string | undefined, ageMs: number | null, wallMs: number): string | undefined {
  if (ageMs === null) return undefined
  const sinceMs = wallMs - ageMs
  if (before !== undefined && Math.abs(Date.parse(before) - sinceMs) < OLDEST_SLACK_MS) return before
  return new Date(sinceMs).toISOString().replace(/\.\d{3}Z$/, 'Z')
}

type Wanted = WantedCondition<'HttpQueue'>

function conditionsOf(queue: HttpQueue, outcome: QueueOutcome, { loss }: QueueFacts): readonly Wanted[] {
  const lost: readonly Wanted[] =
    loss === null || outcome.kind === 'taken'
      ? []
      : [{ type: 'JobsLost', status: 'True', reason: loss.reason, message: loss.message }]
  switch (outcome.kind) {
    case 'applied':
      return [
        { type: 'Ready', status: 'True', reason: 'Reconciled', message: 'The settings are in force.' },
        dispatching(queue.spec.active),
        ...lost,
      ]
    case 'refused':
      return [
        { type: 'Ready', status: 'False', reason: 'InvalidSpec', message: outcome.problem },
        { type: 'Stalled', status: 'True', reason: 'InvalidSpec', message: outcome.problem },
        ...lost,
      ]
    case 'taken': {
      const message = outcome.isPushed
        ? `HttpQueue ${outcome.by} has this queue name and is not in force yet: when it is, this one, made by a push, is removed.`
        : `HttpQueue ${outcome.by} is older and has this queue name: this one is not in force.`
      return [{ type: 'Ready', status: 'False', reason: 'NameTaken', message }]
    }
    case 'unavailable':
      return [...unavailable(outcome.message), ...lost]
  }
}

function dispatching(isActive: boolean): Wanted {
  return isActive
    ? { type: 'Dispatching', status: 'True', reason: 'Active', message: 'Jobs are started.' }
    : {
        type: 'Dispatching',
        status: 'False',
        reason: 'Paused',
        message: 'spec.active is false: no job is started.',
      }
}

function unavailable(message: string): readonly Wanted[] {
  return [
    { type: 'Ready', status: 'Unknown', reason: 'BackendUnavailable', message },
    { type: 'Reconciling', status: 'True', reason: 'ProgressingWithRetry', message },
  ]
}
