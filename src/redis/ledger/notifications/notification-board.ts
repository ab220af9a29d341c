import { StoreUnavailableError } from '../../../domain/errors.ts'
import { toldOf, type TeamTotals } from '../../../domain/notifications/alert-totals.ts'
import { newChannelState } from '../../../domain/notifications/channel-state.ts'
import type { NotificationBoard } from '../../../ports/notifications.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { channelRecordIn, versionOf } from './channel-record.ts'
import { addChannel, changeChannel, readChannel, removeChannel, writeChannel } from './channel-records.ts'
import { homeOfChannels } from './channel-steps.ts'
import { createNoticeReader, forwardNotice } from './notices.ts'
import { readAlerts, readTotals } from './team-totals.ts'

/** A new channel is looked at when every executor has read the settings that hold it. */
const SETTLE_MS = 3_000

export function createNotificationBoard(engine: Engine): NotificationBoard {
  return {
    due: createNoticeReader(engine),
    forward: (notice, channels) => forwardNotice(engine, notice, channels),
    prepare: (team, settings) => prepare(engine, team, settings),
    snapshot: (ref) => readChannel(engine, ref),
    totals: (team) => readTotals(engine, team),
    alerts: (team, ids) => readAlerts(engine, team, ids),
    write: (snapshot, change) => writeChannel(engine, snapshot, change),
    report: (snapshot, change) => changeChannel(engine, snapshot, change),
  }
}

async function prepare(
  engine: Engine,
  team: string,
  { version, channels }: { readonly version: number; readonly channels: readonly string[] },
): Promise<void> {
  const home = homeOfChannels(engine, team)
  const kept = await engine.runner.read((redis) => redis.hgetall(home.channelStates(team)))
  for (const [channel, text] of Object.entries(kept)) {
    if (channels.includes(channel)) continue
    // Whoever prepared it with later settings knows better.
    if ((channelRecordIn(text)?.state.settingsVersion ?? 0) > version) continue
    await removeChannel(engine, { team, channel }, versionOf(text))
  }
  const isWhole = (text: string | undefined) => text !== undefined && channelRecordIn(text) !== null
  const missing = channels.filter((channel) => !isWhole(kept[channel]))
  if (missing.length === 0) return
  const state = newChannelState(toldOf(await readAllTotals(engine, team)), version)
  const dueMs = engine.runner.redisNowMs(home.shard) + SETTLE_MS
  for (const channel of missing)
    await addChannel(engine, { team, channel }, { state, dueMs, former: kept[channel] ?? null })
}

/** A channel that began without the totals of one shard would be told all of its history later. */
async function readAllTotals(engine: Engine, team: string): Promise<TeamTotals> {
  const totals = await readTotals(engine, team)
  const silent = engine.shards.findIndex(({ shard }) => !totals.shards.has(shard))
  if (silent < 0) return totals
  throw new StoreUnavailableError(`The alerts of shard ${silent} cannot be read; new channels have to wait.`)
}
