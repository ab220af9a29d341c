import type { ChannelState } from '../../../domain/notifications/channel-state.ts'
import type { Notification } from '../../../ports/notifications.ts'

/**
 * A channel in the hash `channelStates` of its team: the version of the record, a bar, and JSON of the state and of the
 * message on its way. Each write has a higher version; set_channel compares it.
 */
export interface ChannelRecord {
  readonly state: ChannelState
  readonly message: Notification | null
}

export function encodeChannelRecord(version: number, { state, message }: ChannelRecord): string {
  return `${version}|${JSON.stringify({ state, message })}`
}

/** null when it is damaged: then the channel counts as new. */
export function channelRecordIn(text: string): ChannelRecord | null {
  try {
    const record = JSON.parse(text.slice(text.indexOf('|') + 1)) as Partial<ChannelRecord> | null
    const { state, message = null } = record ?? {}
    const isWhole = typeof state?.told === 'object' && typeof state.threads === 'object'
    return isWhole && Array.isArray(state.recentMs) ? { state, message } : null
  } catch {
    return null
  }
}

/** '' = none. */
export function versionOf(text: string | null): string {
  return /^\d*/.exec(text ?? '')?.[0] ?? ''
}
