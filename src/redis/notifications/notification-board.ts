import { toldOf } from '../../domain/notifications/alert-totals.ts'
import { newChannelState } from '../../domain/notifications/channel-state.ts'
import type { NotificationBoard } from '../../ports/notifications.ts'
import type { Engine } from '../client/engine.ts'
import { channelRecordIn, versionOf } from './channel-record.ts'
import { addChannel, changeChannel, readChannel, removeChannel, writeChannel } from './channel-records.ts'
import { homeOf } from './channel-steps.ts'
import { createNoticeReader, forwardNotice } from './notices.ts'
import { readAlerts, readTotals } from './team-totals.ts'

/** A new channel is looked at when every executor has read the settings that hold it. */
const SETTLE_MS = 3_000

export function createNotificationBoard(engine: Engine): NotificationBoard {
  return {
    due: createNoticeReader(engine),
    forward: (notice, channels) => forwardNotice(engine, notice, channels),
    prepare: (team, settings) => prepare(engine, team, settings),
    look: (ref) => readChannel(engine, ref),
    totals: (team) => readTotals(engine, team),
    alerts: (team, ids) => readAlerts(engine, team, ids),
    write: (look, change) => writeChannel(engine, look, change),
    report: (look, change) => changeChannel(engine, look, change),
  }
}

async function prepare(
  engine: Engine,
  team: string,
  { version, channels }: { readonly version: number; readonly channels: readonly string[] },
): Promise<void> {
  const home = homeOf(engine, team)
  const kept = await engine.runner.read((redis) => redis.hgetall(home.channelStates(team)))
  const isWhole = (text: string | undefined) => text !== undefined && channelRecordIn(text) !== null
  const missing = channels.filter((channel) => !isWhole(kept[channel]))
  if (missing.length > 0) {
    const totals = await readTotals(engine, team)
    const state = newChannelState(toldOf(totals), version)
    const dueMs = engine.runner.redisNowMs(home.shard) + SETTLE_MS
    for (const channel of missing)
      await addChannel(engine, { team, channel }, { state, dueMs, former: kept[channel] ?? null })
  }
  for (const [channel, text] of Object.entries(kept)) {
    if (channels.includes(channel)) continue
    // Whoever prepared it with later settings knows better.
    if ((channelRecordIn(text)?.state.settingsVersion ?? 0) > version) continue
    await removeChannel(engine, { team, channel }, versionOf(text))
  }
}
