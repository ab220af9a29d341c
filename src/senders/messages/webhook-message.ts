import type { Alert } from '../../domain/alerts/alert.ts'
import { formatTimestamp } from '../../domain/timestamp.ts'
import type { Notification } from '../../ports/notifications.ts'

/**
 * The body for a webhook of the team's own: the record of the most severe alert as the API has it, and beside it those
 * of all entries, so that receivers of one alert and of many read the same fields.
 */
export function webhookMessage(notification: Notification, channel: string): string {
  const { team, entries, createdAtMs } = notification
  const [first] = entries
  if (notification.kind === 'test' || first === undefined) {
    return JSON.stringify({ event: 'test', team, channel, at: formatTimestamp(createdAtMs) })
  }
  return JSON.stringify({
    event: 'alert',
    ...recordOf(first.alert),
    team,
    raised: notification.alerts,
    alerts: entries.map((entry) => ({ ...recordOf(entry.alert), raised: entry.count })),
    more: notification.moreEntries,
  })
}

function recordOf(alert: Alert): Record<string, unknown> {
  return {
    id: alert.id,
    type: alert.type,
    reason: alert.reason,
    resource: alert.resource,
    job_id: alert.jobId,
    message: alert.message,
    count: alert.count,
    first_at: formatTimestamp(alert.firstAtMs),
    last_at: formatTimestamp(alert.lastAtMs),
    read: alert.isRead,
    suppressed_by: alert.suppressedBy,
  }
}
