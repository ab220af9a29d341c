import type { Alert } from '../../domain/alerts/alert.ts'
import { formatTimestamp, timestampOrNull } from '../../domain/timestamp.ts'
import type {
  Alert as WireAlert,
  AlertDelivery,
  UnreadAlerts as WireUnread,
} from '../../../clients/typescript/src/generated/wire.ts'

/** Shape of `AlertDelivery` in the ports, which the contract may not import. */
export interface ShownDelivery {
  readonly channel: string
  readonly state: AlertDelivery['state']
  readonly answer: string | null
  readonly atMs: number | null
}

/** Shape of the unread counts in the ports, which the contract may not import. */
export interface ShownUnread {
  readonly unread: number
  readonly byType: Readonly<WireUnread['by_type']>
}

export function toWireAlert(alert: Alert, deliveries: readonly ShownDelivery[]): WireAlert {
  const { resource } = alert
  return {
    id: alert.id,
    type: alert.type,
    reason: alert.reason,
    resource: { kind: resource.kind, id: resource.id, name: resource.name },
    job_id: alert.jobId,
    message: alert.message,
    count: alert.count,
    first_at: formatTimestamp(alert.firstAtMs),
    last_at: formatTimestamp(alert.lastAtMs),
    read: alert.isRead,
    suppressed_by: alert.suppressedBy,
    deliveries: deliveries.map(({ channel, state, answer, atMs }) => ({
      channel,
      state,
      answer,
      at: timestampOrNull(atMs),
    })),
  }
}

export function toWireUnread({ unread, byType }: ShownUnread): WireUnread {
  return {
    unread,
    by_type: {
      warning: byType.warning,
      failure: byType.failure,
      recovery: byType.recovery,
      limit_warning: byType.limit_warning,
    },
  }
}
