import type { QueueSettings } from '../../domain/jobs/queue-settings.ts'
import type { ManagedBy } from '../../domain/managed-by.ts'
import type { QueueStop } from '../../domain/queue-stop.ts'
import { formatTimestamp } from '../../domain/timestamp.ts'
import { assertionWarnings } from '../fields/assertion-fields.ts'
import type { EditedQueue, Queue as WireQueue, QueueCounts, QueueState } from '../generated/wire.ts'

/** As in the port, without the team. */
export interface ShownQueue {
  readonly queueId: number
  readonly name: string
  readonly settings: QueueSettings
  readonly counts: QueueCounts
}

/** @param managedBy null = nobody, or not known */
export function toWireQueue(queue: ShownQueue, managedBy: ManagedBy | null = null): WireQueue {
  const { settings, counts } = queue
  return {
    queue_id: queue.queueId,
    name: queue.name,
    is_active: settings.isActive,
    is_draining: settings.isDraining,
    timeout_seconds: settings.timeoutSeconds,
    retries_enabled: settings.retriesEnabled,
    retry_delays: [...settings.retryDelays],
    success_assertions: settings.successAssertions.map((assertion) => ({ ...assertion })),
    alerts_enabled: settings.alertsEnabled,
    max_parallelism: settings.maxParallelism,
    dlq_retention_days: settings.dlqRetentionDays,
    callback_events: settings.callbackEvents,
    strict_parallelism: settings.strictParallelism,
    counts: {
      pending: counts.pending,
      delayed: counts.delayed,
      processing: counts.processing,
      dead: counts.dead,
    },
    managed_by: managedBy,
  }
}

/** With warnings about settings that are stored but cannot work. */
export function toEditedQueue(queue: ShownQueue, managedBy: ManagedBy | null = null): EditedQueue {
  return { ...toWireQueue(queue, managedBy), warnings: assertionWarnings(queue.settings.successAssertions) }
}

/** undefined = it is not stopped so, null = nobody knows who has done it. */
export type ShownStop = QueueStop | null | undefined

export function toQueueState(
  stops: { readonly pause: ShownStop; readonly drain: ShownStop },
  oldestReadyMs: number | null,
): QueueState {
  return {
    paused: toWireStop(stops.pause),
    draining: toWireStop(stops.drain),
    oldest_ready_seconds: oldestReadyMs === null ? null : Math.floor(oldestReadyMs / 1_000),
  }
}

function toWireStop(stop: ShownStop): QueueState['paused'] {
  if (stop === undefined) return null
  if (stop === null) return { at: null, by: null, via: null, reason: null }
  return { at: formatTimestamp(stop.atMs), by: stop.by, via: stop.via, reason: stop.reason }
}
