import type { QueueSettings } from '../../domain/jobs/queue-settings.ts'
import { editWarning, type ManagedBy } from '../../domain/managed-by.ts'
import type { QueueStop } from '../../domain/queue-stop.ts'
import { formatTimestamp } from '../../domain/timestamp.ts'
import { assertionWarnings } from '../fields/assertion-fields.ts'
import type {
  EditedQueue,
  ManagedBy as WireManagedBy,
  Queue as WireQueue,
  QueueCounts,
  QueueState,
} from '../generated/wire.ts'

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
    managed_by: toWireManagedBy(managedBy),
  }
}

export function toWireManagedBy(by: ManagedBy | null): WireManagedBy {
  return by === null ? null : { tool: by.tool, name: by.name, read_only: by.isReadOnly }
}

/** With warnings about settings that are stored but cannot work, and of an edit that will not last. */
export function toEditedQueue(queue: ShownQueue, managedBy: ManagedBy | null = null): EditedQueue {
  const warnings = [...assertionWarnings(queue.settings.successAssertions), ...editWarning(managedBy)]
  return { ...toWireQueue(queue, managedBy), warnings }
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
