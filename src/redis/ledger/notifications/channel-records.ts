import type { ChannelSnapshot, ChannelRef, ChannelWrite } from '../../../ports/notifications.ts'
import type { DeliveryLogEntry } from '../../../domain/notifications/delivery-end.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { channelRecordIn, encodeChannelRecord, versionOf } from './channel-record.ts'
import { homeOfChannels, noticeOf, SET_CHANNEL } from './channel-steps.ts'

/** Messages that a team's log keeps. */
const LOG_MAX = 1_000
/** Fingerprints that one entry of the log names; a digest of more is rare. */
const LOG_RANGES_MAX = 50
/** Stands for a due time: whatever it is by now. */
const ANY_DUE = '*'
/** A lost answer is no reason to send a message again. */
const RESEND_FOR_MS = 2_000

/** null = it is not kept, or damaged. */
export async function readChannel(engine: Engine, ref: ChannelRef): Promise<ChannelSnapshot | null> {
  const keys = homeOfChannels(engine, ref.team)
  // The due time first: what is marked after it is seen by the write.
  const [due, text] = await engine.runner.read((redis) =>
    Promise.all([
      redis.zscore(keys.notices, noticeOf(ref)),
      redis.hget(keys.channelStates(ref.team), ref.channel),
    ]),
  )
  const record = text === null ? null : channelRecordIn(text)
  if (record === null) {
    if (due !== null) await removeChannel(engine, ref, versionOf(text))
    return null
  }
  return {
    team: ref.team,
    channel: ref.channel,
    ...record,
    nowMs: engine.runner.redisNowMs(keys.shard),
    mark: { version: versionOf(text), due: due ?? '' },
  }
}

/** False when somebody was faster. */
export async function writeChannel(
  engine: Engine,
  snapshot: ChannelSnapshot,
  { state, message, dueMs, log }: ChannelWrite,
): Promise<boolean> {
  const isChanged = state !== snapshot.state || message !== snapshot.message
  const version = Number(snapshot.mark.version) + (isChanged ? 1 : 0)
  return setChannel(engine, snapshot, {
    version: snapshot.mark.version,
    record: encodeChannelRecord(version, { state, message }),
    seenDue: snapshot.mark.due,
    dueMs,
    ...(log === undefined ? {} : { log }),
  })
}

/**
 * Writes like `writeChannel`, but for a decision that does not depend on what was raised: a mark made meanwhile does
 * not matter.
 */
export async function changeChannel(
  engine: Engine,
  snapshot: ChannelSnapshot,
  change: ChannelWrite,
): Promise<boolean> {
  return writeChannel(engine, { ...snapshot, mark: { ...snapshot.mark, due: ANY_DUE } }, change)
}

export async function addChannel(
  engine: Engine,
  ref: ChannelRef,
  {
    state,
    dueMs,
    former,
  }: Pick<ChannelWrite, 'state' | 'dueMs'> & {
    /** A damaged record, whose place it takes. */
    readonly former: string | null
  },
): Promise<void> {
  // A number that no former record of this name had.
  const version = engine.runner.redisNowMs(homeOfChannels(engine, ref.team).shard)
  const record = encodeChannelRecord(version, { state, message: null })
  await setChannel(engine, ref, { version: versionOf(former), record, seenDue: ANY_DUE, dueMs })
}

export async function removeChannel(engine: Engine, ref: ChannelRef, version: string): Promise<void> {
  await setChannel(engine, ref, { version, record: '', seenDue: ANY_DUE, dueMs: null })
}

async function setChannel(
  engine: Engine,
  ref: ChannelRef,
  write: {
    readonly version: string
    readonly record: string
    readonly seenDue: string
    readonly dueMs: number | null
    readonly log?: DeliveryLogEntry
  },
): Promise<boolean> {
  const keys = homeOfChannels(engine, ref.team)
  const call = SET_CHANNEL.with({
    keys,
    channelStates: keys.channelStates(ref.team),
    deliveryLog: keys.deliveryLog(ref.team),
    channel: ref.channel,
    member: noticeOf(ref),
    version: write.version,
    record: write.record,
    seenDue: write.seenDue,
    dueMs: write.dueMs ?? '',
    logEntry: write.log === undefined ? '' : JSON.stringify(bounded(write.log)),
    logMax: LOG_MAX,
  })
  return (await engine.runner.run(call, RESEND_FOR_MS)) === 1
}

function bounded(log: DeliveryLogEntry): DeliveryLogEntry {
  return { ...log, ranges: Object.fromEntries(Object.entries(log.ranges).slice(0, LOG_RANGES_MAX)) }
}
