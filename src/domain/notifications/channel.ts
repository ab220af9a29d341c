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

/** Types that a channel without a list of its own gets: all but warnings. */
export const DEFAULT_ALERT_TYPES: readonly AlertType[] = Object.freeze([
  'failure',
  'recovery',
  'limit_warning',
])

/** Channels of a team. */
export const CHANNELS_MAX = 10
/** The key in a Secret that we make for the URL of a channel. */
export const CHANNEL_URL_KEY = 'url'

/** @param random of a few bytes */
export function nameOfChannelSecret(random: Uint8Array): string {
  return `punctual-channel-${Buffer.from(random).toString('hex')}`
}
