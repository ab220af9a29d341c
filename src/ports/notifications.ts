import type { SecretKeyRef } from '../domain/access/signing-secret.ts'
import type { Alert, AlertType } from '../domain/alerts/alert.ts'
import type { TeamTotals } from '../domain/notifications/alert-totals.ts'
import type { ChannelState } from '../domain/notifications/channel-state.ts'
import type { Channel, ChannelType, Member } from '../domain/notifications/channel.ts'
import type { DeliveryLogEntry } from '../domain/notifications/delivery-end.ts'
import type { TeamSettings } from './settings.ts'

/** Alerts of one resource, type and reason of which a channel has not been told yet. */
export interface NotificationEntry {
  /** The newest of them. */
  readonly alert: Alert
  /** How many were raised since the channel was last told; 1 or more. */
  readonly count: number
  /** Id shared by the messages about one trouble of one resource: its failure, its digests and its recovery. */
  readonly threadId: string
  /** Whether an earlier message belongs to the thread. */
  readonly isReply: boolean
}

/** One message to a channel. A message that is tried again is the same. */
export interface Notification {
  /** Id of the message, for `Message-ID` and `webhook-id`; letters, digits, `-` and `_`. */
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

/**
 * Result of one try to send to a channel. `answer` is for people: a status and the start of the answer, or the fault.
 * Never a URL or a password.
 */
export type DeliveryResult =
  | { readonly kind: 'sent'; readonly answer: string }
  | {
      readonly kind: 'failed'
      readonly answer: string
      /** A further try cannot succeed: the webhook is gone, or the message is refused. */
      readonly isFinal: boolean
      /** Pause that `Retry-After` asks for; null = none. */
      readonly retryAfterMs: number | null
      /** Addresses that a mail server has accepted. */
      readonly accepted: readonly string[]
    }
  /** `signal` was aborted. */
  | {
      readonly kind: 'aborted'
      /** Addresses that a mail server has accepted. */
      readonly accepted: readonly string[]
    }

/** One message, to whom it goes, and what that depends on. */
export interface ChannelDelivery {
  readonly channel: Channel
  readonly notification: Notification
  /** Egress and signing secrets. */
  readonly settings: TeamSettings
  /** Members who get an e-mail; empty for other types. */
  readonly recipients: readonly Member[]
  /** Unix seconds by Redis time. */
  readonly timestampSeconds: number
}

/** Sends messages to channels. Never throws. Ends within DELIVERY_TIMEOUT_MS. */
export interface ChannelSender {
  send(delivery: ChannelDelivery, signal: AbortSignal): Promise<DeliveryResult>
  /** Closes pooled connections. */
  close(): Promise<void>
}

/** How a channel does, as its deliveries show. Times are Redis time, Unix ms. */
export interface ChannelHealth {
  readonly channel: string
  /** `retrying`: the last try failed and another follows. `failing`: a message was given up, and none got through since. */
  readonly state: 'ok' | 'retrying' | 'failing'
  /** Start of the first message that was given up; null unless failing. */
  readonly failingSinceMs: number | null
  /** Answer to the last try; null before the first. Never a URL or a password. */
  readonly lastAnswer: string | null
  readonly lastTriedAtMs: number | null
}

/** Throws StoreUnavailableError. */
export interface ChannelHealthReader {
  /** Channels that executors know by now; by name. */
  healthOf(team: string): Promise<readonly ChannelHealth[]>
}

/**
 * End of a test message. `busy`: another test of the channel is under way. `no_executor`: none has answered in time.
 */
export type ChannelTestResult =
  | {
      readonly status: 'answered'
      readonly isSent: boolean
      /** Answer of the channel, as in `DeliveryResult`. */
      readonly answer: string
      readonly tookMs: number
    }
  | { readonly status: 'busy' | 'no_executor' }

/** Throws StoreUnavailableError. */
export interface ChannelTester {
  /**
   * Has an executor send a test message, once, as it sends alerts. Ends within CHANNEL_TEST_TIMEOUT_MS.
   * @param channel one that the settings of the team have
   */
  requestTest(team: string, channel: string): Promise<ChannelTestResult>
}

/** State of an alert on one channel. */
export interface AlertDelivery {
  readonly channel: string
  /** `failed`: a message with it was given up. `suppressed`: a maintenance window kept it from being sent. */
  readonly state: 'pending' | 'sent' | 'failed' | 'suppressed'
  /** Answer to the last try; null before it. */
  readonly answer: string | null
  /** Time at which the message ended; Redis time, Unix ms; null while it is pending. */
  readonly atMs: number | null
}

/** Throws StoreUnavailableError. */
export interface DeliveryReader {
  /**
   * Deliveries by alert id, on each channel that gets alerts of this type. An alert from before a channel was made has
   * no entry of it.
   */
  deliveriesOf(team: string, alerts: readonly Alert[]): Promise<ReadonlyMap<number, readonly AlertDelivery[]>>
}

/** One channel of a team. */
export interface ChannelRef {
  readonly team: string
  /** Name of the channel. */
  readonly channel: string
}

/** Something was raised in a shard, and the channels of the team do not know it yet. */
export interface RaisedNotice {
  readonly shard: number
  readonly team: string
}

/** A channel at one moment. */
export interface ChannelSnapshot extends ChannelRef {
  readonly state: ChannelState
  /** The one on its way; null = none. */
  readonly message: Notification | null
  /** Redis time, Unix ms. */
  readonly nowMs: number
  /** Version that was read, so that `write` notices a change. */
  readonly mark: { readonly version: string; readonly due: string }
}

export interface ChannelWrite {
  readonly state: ChannelState
  readonly message: Notification | null
  /** Time at which the channel is due again, Redis time, Unix ms; null = when something is raised. */
  readonly dueMs: number | null
  /** A message that ended. */
  readonly log?: DeliveryLogEntry
}

/** The store of executors that send notifications. Throws StoreUnavailableError. */
export interface NotificationBoard {
  /** Reads a page of what is due now; the next call may answer others. Shards that do not answer are left out. */
  due(): Promise<{ readonly raised: readonly RaisedNotice[]; readonly channels: readonly ChannelRef[] }>
  /** Makes the channels due, then clears the notice, unless something was raised meanwhile. */
  forward(notice: RaisedNotice, channels: readonly string[]): Promise<void>
  /**
   * Begins to keep channels that are new, at what was raised by now, and forgets those that are gone.
   * @param settings.version executors with older settings forget nothing
   */
  prepare(
    team: string,
    settings: { readonly version: number; readonly channels: readonly string[] },
  ): Promise<void>
  /** null = it is not kept, and from now on not due. */
  snapshot(ref: ChannelRef): Promise<ChannelSnapshot | null>
  totals(team: string): Promise<TeamTotals>
  /** Alerts that still exist, by id. */
  alerts(team: string, alertIds: readonly number[]): Promise<ReadonlyMap<number, Alert>>
  /** False when the channel has changed since the snapshot; nothing is written then. One that was made due meanwhile stays due. */
  write(snapshot: ChannelSnapshot, change: ChannelWrite): Promise<boolean>
  /** Writes like `write`, for the end of a try: whether the channel was made due meanwhile does not matter. */
  report(snapshot: ChannelSnapshot, change: ChannelWrite): Promise<boolean>
}

/** A channel as the settings of its team have it; its URL lies in a Secret. */
export interface KeptChannel {
  readonly name: string
  readonly type: ChannelType
  readonly alertTypes: readonly AlertType[]
  /** null for e-mail. */
  readonly secretRef: SecretKeyRef | null
}

/** A new channel. `secretName` = the Secret to be made for its URL. */
export interface GivenChannel extends Channel {
  readonly secretName: string
}

/** The channels in the settings of teams. Every method throws EditRefusedError and ResourceApiError. */
export interface ChannelStore {
  /** In the order of the settings. */
  list(team: string): Promise<readonly KeptChannel[]>
  /** Refuses a name that is taken, and an eleventh. */
  create(team: string, given: GivenChannel): Promise<KeptChannel>
  /** Changes which alerts it gets. */
  edit(team: string, name: string, alertTypes: readonly AlertType[]): Promise<KeptChannel | 'not_found'>
  /** Nobody is told by it any more; its Secret is removed if `create` made it. */
  remove(team: string, name: string): Promise<'removed' | 'not_found'>
  /** Waits until executors know the channel, 8 s at most. @returns false when they do not by then */
  whenInForce(team: string, name: string): Promise<boolean>
}
