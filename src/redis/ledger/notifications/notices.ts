import type { ChannelRef, NotificationBoard, RaisedNotice } from '../../../ports/notifications.ts'
import { shardKeys, type Engine } from '../../base/engine/engine.ts'
import { ALERT_COUNTS } from '../../base/layout/fields.ts'
import { CLEAR_NOTICE, homeOfChannels, MARK_CHANNELS, noticeOf } from './channel-steps.ts'

/** Notices of a shard that one look answers. */
const PAGE_MAX = 1_000

/** Reads what is due. A shard with more than a page answers the next page each time, so that none hides behind others. */
export function createNoticeReader(engine: Engine): NotificationBoard['due'] {
  const offsets = engine.shards.map(() => 0)
  return async () => {
    const raised: RaisedNotice[] = []
    const channels: ChannelRef[] = []
    const pages = await Promise.allSettled(
      engine.shards.map(({ notices, shard }) =>
        engine.runner.read((redis) =>
          redis.zrangebyscore(
            notices,
            '-inf',
            engine.runner.redisNowMs(shard),
            'LIMIT',
            offsets[shard] ?? 0,
            PAGE_MAX,
          ),
        ),
      ),
    )
    for (const [shard, page] of pages.entries()) {
      if (page.status === 'rejected') continue
      const members = page.value
      offsets[shard] = members.length < PAGE_MAX ? 0 : (offsets[shard] ?? 0) + PAGE_MAX
      for (const member of members) {
        const slash = member.indexOf('/')
        if (slash < 0) raised.push({ shard, team: member })
        else channels.push({ team: member.slice(0, slash), channel: member.slice(slash + 1) })
      }
    }
    const failed = pages.find((page) => page.status === 'rejected')
    if (failed !== undefined && pages.every((page) => page.status === 'rejected')) throw failed.reason
    return { raised, channels }
  }
}

/**
 * The channels are made due before the notice goes: after a crash in between, that is done again. The version is read
 * before, so that a notice of what is raised meanwhile stays.
 */
export async function forwardNotice(
  engine: Engine,
  { shard, team }: RaisedNotice,
  channels: readonly string[],
): Promise<void> {
  const keys = shardKeys(engine, shard)
  const version = await engine.runner.read((redis) =>
    redis.hget(keys.alertCounts(team), ALERT_COUNTS.version),
  )
  if (channels.length > 0) await markChannels(engine, team, channels)
  await engine.runner.run(
    CLEAR_NOTICE.with({ keys, alertCounts: keys.alertCounts(team), team, version: version ?? '' }),
  )
}

async function markChannels(engine: Engine, team: string, channels: readonly string[]): Promise<void> {
  const keys = homeOfChannels(engine, team)
  const members = channels.map((channel) => ({ member: noticeOf({ team, channel }) }))
  await engine.runner.run(MARK_CHANNELS.with({ keys, nowMs: engine.runner.redisNowMs(keys.shard), members }))
}
