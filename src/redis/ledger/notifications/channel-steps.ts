import { crc32 } from 'node:zlib'
import { shardKeys, type Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'

export const SET_CHANNEL = step('set_channel', import.meta.url, {
  keys: ['channelStates', 'notices', 'deliveryLog'],
  args: ['channel', 'member', 'version', 'record', 'seenDue', 'dueMs', 'logEntry', 'logMax'],
})
export const MARK_CHANNELS = step('mark_channels', import.meta.url, {
  keys: ['notices'],
  args: ['nowMs'],
  rows: { members: { args: ['member'] } },
})
export const CLEAR_NOTICE = step('clear_notice', import.meta.url, {
  keys: ['notices', 'alertCounts'],
  args: ['team', 'version'],
})

/** The shard that keeps the channels of a team. */
export function homeOfChannels(engine: Engine, team: string): ShardKeys {
  return shardKeys(engine, crc32(team) % engine.shards.length)
}

/** Member of a channel in `notices`; neither name holds a slash. */
export function noticeOf({ team, channel }: { readonly team: string; readonly channel: string }): string {
  return `${team}/${channel}`
}
