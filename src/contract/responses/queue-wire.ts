import type { CircuitBreaker, RateLimit, Throttle } from '../../domain/jobs/flow.ts'
import type { QueueHour } from '../../domain/jobs/queues/queue-hour.ts'
import type { ReadySplit, StopReason } from '../../domain/jobs/queues/ready-split.ts'
import type { QueueSettings } from '../../domain/jobs/queue-settings.ts'
import { editWarning, type ManagedBy } from '../../domain/managed-by.ts'
import type { QueueStop } from '../../domain/queue-stop.ts'
import { formatTimestamp, timestampOrNull } from '../../domain/timestamp.ts'
import { assertionWarnings } from '../fields/assertion-fields.ts'
import type {
  EditedQueue,
  ManagedBy as WireManagedBy,
  Queue as WireQueue,
  QueueCounts,
  QueueRow as WireRow,
  QueueState,
  QueueSummary as WireSummary,
} from '../../../clients/typescript/src/generated/wire.ts'

/** Shape of `Queue` in the ports, without the team; the contract may not import it. */
export interface ShownQueue {
  readonly queueId: number
  readonly name: string
  readonly settings: QueueSettings
  readonly counts: QueueCounts
  /** null = its jobs begin as slots allow. */
  readonly throttle: Throttle | null
}

/** @param managedBy null = nobody, or not known */
export function toWireQueue(queue: ShownQueue, managedBy: ManagedBy | null = null): WireQueue {
  const { settings, counts, throttle } = queue
  return {
    queue_id: queue.queueId,
    name: queue.name,
    is_active: settings.isActive,
    is_draining: settings.isDraining,
    timeout_seconds: settings.timeoutSeconds,
    retries_enabled: settings.retriesEnabled,
    retry_delays: [...settings.retryDelays],
    no_retry_statuses: [...settings.noRetryStatuses],
    retry_jitter_percent: settings.retryJitterPercent,
    success_assertions: settings.successAssertions.map((assertion) => ({ ...assertion })),
    alerts_enabled: settings.alertsEnabled,
    max_parallelism: settings.maxParallelism,
    rate_limit: toWireRate(settings.rateLimit),
    respect_retry_after: settings.respectRetryAfter,
    circuit_breaker: toWireBreaker(settings.circuitBreaker),
    dlq_retention_days: settings.dlqRetentionDays,
    callback_events: settings.callbackEvents,
    record_responses: settings.recordResponses,
    strict_parallelism: settings.strictParallelism,
    throttled: toWireThrottle(throttle),
    counts: {
      pending: counts.pending,
      delayed: counts.delayed,
      processing: counts.processing,
      dead: counts.dead,
    },
    managed_by: toWireManagedBy(managedBy),
  }
}

function toWireRate(rate: RateLimit | null): WireQueue['rate_limit'] {
  return rate && { limit: rate.limit, period_seconds: rate.periodSeconds }
}

function toWireBreaker(breaker: CircuitBreaker | null): WireQueue['circuit_breaker'] {
  return (
    breaker && {
      failure_percent: breaker.failurePercent,
      min_calls: breaker.minCalls,
      window_seconds: breaker.windowSeconds,
      open_seconds: breaker.openSeconds,
    }
  )
}

function toWireThrottle(throttle: Throttle | null): WireQueue['throttled'] {
  return throttle && { reason: throttle.reason, until: timestampOrNull(throttle.untilMs) }
}

export function toWireManagedBy(by: ManagedBy | null): WireManagedBy {
  return by === null ? null : { tool: by.tool, name: by.name, read_only: by.isReadOnly }
}

/** The queue with warnings about settings that are stored but cannot work, and if the edit will not last. */
export function toEditedQueue(queue: ShownQueue, managedBy: ManagedBy | null = null): EditedQueue {
  const warnings = [...assertionWarnings(queue.settings.successAssertions), ...editWarning(managedBy)]
  return { ...toWireQueue(queue, managedBy), warnings }
}

function secondsOrNull(ms: number | null): number | null {
  return ms === null ? null : Math.floor(ms / 1_000)
}

/** Shape of `QueueRow` in the ports. */
export interface ShownRow extends ShownQueue {
  readonly split: ReadySplit
  readonly lastHour: QueueHour
}

export function toWireQueueRow(row: ShownRow, managedBy: ManagedBy | null = null): WireRow {
  const { split, lastHour } = row
  return {
    ...toWireQueue(row, managedBy),
    startable: split.startable,
    stopped: split.stopped,
    oldest_startable_seconds: secondsOrNull(split.oldestStartableMs),
    last_hour: {
      ended: lastHour.ended,
      failed: lastHour.failed,
      lateness_ms_p99: lastHour.latenessMsP99,
      trend: { ended: [...lastHour.trend.ended], failed: [...lastHour.trend.failed] },
    },
  }
}

/** Shape of `QueueSummary` in the ports. */
export interface ShownSummary {
  readonly queues: number
  readonly isComplete: boolean
  readonly startable: number
  readonly stopped: Readonly<Record<StopReason, { readonly jobs: number; readonly queues: number }>>
  readonly oldestStartable: { readonly ageMs: number; readonly queueId: number; readonly name: string } | null
}

export function toWireSummary(summary: ShownSummary | null): WireSummary | null {
  if (summary === null) return null
  const { queues, isComplete, startable, stopped, oldestStartable: oldest } = summary
  return {
    queues,
    is_complete: isComplete,
    startable,
    stopped,
    oldest_startable: oldest && {
      queue_id: oldest.queueId,
      name: oldest.name,
      milliseconds: Math.floor(oldest.ageMs),
    },
  }
}

/** undefined = it is not stopped so, null = nobody knows who has done it. */
export type ShownStop = QueueStop | null | undefined

/** @param counted null = the queue was deleted meanwhile */
export function toQueueState(
  stops: { readonly pause: ShownStop; readonly drain: ShownStop },
  counted: { readonly oldestReadyMs: number | null; readonly split: ReadySplit } | null,
): QueueState {
  return {
    paused: toWireStop(stops.pause),
    draining: toWireStop(stops.drain),
    oldest_ready_seconds: secondsOrNull(counted?.oldestReadyMs ?? null),
    oldest_startable_seconds: secondsOrNull(counted?.split.oldestStartableMs ?? null),
    startable: counted?.split.startable ?? 0,
    stopped: counted?.split.stopped ?? null,
  }
}

function toWireStop(stop: ShownStop): QueueState['paused'] {
  if (stop === undefined) return null
  if (stop === null) return { at: null, by: null, via: null, reason: null }
  return { at: formatTimestamp(stop.atMs), by: stop.by, via: stop.via, reason: stop.reason }
}
