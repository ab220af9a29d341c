import type { AlertType } from '../alerts/alert.ts'

export const CHANNEL_TYPES = ['email', 'slack', 'discord', 'webhook'] as const
export type ChannelType = (typeof CHANNEL_TYPES)[number]

/** One way of a team to be told of its alerts. */
export interface Channel {
  /** Unique in the team; a DNS label. */
  readonly name: string
  readonly type: ChannelType
  /** The types of alerts that it gets. */
  readonly alertTypes: readonly AlertType[]
  /** The URL of the chat service or webhook, which is a secret; null for e-mail. */
  readonly url: string | null
}

/** A person who gets the e-mails of a team. */
export interface Member {
  readonly name: string
  readonly email: string
}

/** What a team without a list of its own is told: all but warnings. */
export const DEFAULT_ALERT_TYPES: readonly AlertType[] = Object.freeze([
  'failure',
  'recovery',
  'limit_warning',
])
