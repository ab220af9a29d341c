import type { Alert } from '../../src/domain/alerts/alert.ts'
import type { Channel, ChannelType } from '../../src/domain/notifications/channel.ts'
import { DEFAULT_ALERT_TYPES } from '../../src/domain/notifications/channel.ts'
import type { ChannelDelivery, Notification, NotificationEntry } from '../../src/ports/notifications.ts'
import { teamSettings } from './targets/outbound-targets.ts'

/** 2026-11-22 22:10:03 UTC. */
export const NOTIFIED_AT_MS = Date.UTC(2026, 10, 22, 22, 10, 3)

export function anAlert(fields: Partial<Alert> = {}): Alert {
  return {
    id: 4_711,
    type: 'failure',
    reason: 'timeout',
    resource: { kind: 'queue', id: 12, name: 'emails' },
    jobId: 815,
    message: 'POST to example.com failed after 3 attempts: no answer within 30 s.',
    count: 1,
    firstAtMs: NOTIFIED_AT_MS - 1_000,
    lastAtMs: NOTIFIED_AT_MS - 1_000,
    isRead: false,
    suppressedBy: null,
    ...fields,
  }
}

export function anEntry(fields: Partial<NotificationEntry> = {}): NotificationEntry {
  return { alert: anAlert(), count: 1, threadId: 'queue-12-1', isReply: false, ...fields }
}

export function aNotification(fields: Partial<Notification> = {}): Notification {
  const entries = fields.entries ?? [anEntry()]
  return {
    id: 'n-1',
    team: 'acme',
    kind: 'alerts',
    entries,
    moreEntries: 0,
    alerts: entries.reduce((sum, { count }) => sum + count, 0),
    createdAtMs: NOTIFIED_AT_MS,
    ...fields,
  }
}

export function aChannel(type: ChannelType, url: string | null = null): Channel {
  return { name: `${type}-ops`, type, alertTypes: DEFAULT_ALERT_TYPES, url }
}

export function aDelivery(
  channel: Channel,
  fields: Partial<Omit<ChannelDelivery, 'channel'>> = {},
): ChannelDelivery {
  return {
    channel,
    notification: aNotification(),
    settings: teamSettings({ egressAllow: ['127.0.0.0/8'] }),
    recipients: [],
    timestampSeconds: Math.floor(NOTIFIED_AT_MS / 1_000),
    ...fields,
  }
}
