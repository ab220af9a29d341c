import type { Alert } from '../domain/alerts/alert.ts'
import type { Channel, Member } from '../domain/notifications/channel.ts'
import type { TeamSettings } from './settings.ts'

/** Alerts of one resource, type and reason of which a channel has not been told yet. */
export interface NotificationEntry {
  /** The newest of them. */
  readonly alert: Alert
  /** How many were raised since the channel was last told; 1 or more. */
  readonly count: number
  /** Of the messages about one trouble of one resource: its failure, its digests and its recovery. */
  readonly threadId: string
  /** Whether an earlier message belongs to the thread. */
  readonly isReply: boolean
}

/** One message to a channel. A message that is tried again is the same. */
export interface Notification {
  /** Of this message, for `Message-ID` and `webhook-id`; letters, digits, `-` and `_`. */
  readonly id: string
  readonly team: string
  /** `test`: somebody asked whether the channel works; there are no entries. */
  readonly kind: 'alerts' | 'test'
  /** Most severe first, then newest first; at most NOTIFICATION_ENTRIES_MAX. */
  readonly entries: readonly NotificationEntry[]
  /** Further entries that were left out. */
  readonly moreEntries: number
  /** Alerts of all entries, left out or not. */
  readonly alerts: number
  /** Redis time, Unix ms. */
  readonly createdAtMs: number
}

/** What one try to tell a channel brought. `answer` is for people: a status and the start of the answer, or the fault. Never a URL or a password. */
export type DeliveryResult =
  | { readonly kind: 'sent'; readonly answer: string }
  | {
      readonly kind: 'failed'
      readonly answer: string
      /** A further try cannot succeed: the webhook is gone, or the message is refused. */
      readonly isFinal: boolean
      /** From `Retry-After`; null = none. */
      readonly retryAfterMs: number | null
      /** Addresses that a mail server has accepted. */
      readonly accepted: readonly string[]
    }
  /** `signal` was aborted. */
  | { readonly kind: 'aborted' }

/** Sends messages to channels. Never throws. Ends within DELIVERY_TIMEOUT_MS. */
export interface ChannelSender {
  send(
    delivery: {
      readonly channel: Channel
      readonly notification: Notification
      /** Egress and signing secrets. */
      readonly settings: TeamSettings
      /** Who gets an e-mail; empty for other types. */
      readonly recipients: readonly Member[]
      /** Unix seconds by Redis time. */
      readonly timestampSeconds: number
    },
    signal: AbortSignal,
  ): Promise<DeliveryResult>
  /** Closes pooled connections. */
  close(): Promise<void>
}
