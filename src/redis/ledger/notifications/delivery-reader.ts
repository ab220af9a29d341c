import type { Alert } from '../../../domain/alerts/alert.ts'
import { keyOfTotal } from '../../../domain/notifications/alert-totals.ts'
import type { ChannelState, ToldRange } from '../../../domain/notifications/channel-state.ts'
import type { Channel } from '../../../domain/notifications/channel.ts'
import type { DeliveryLogEntry } from '../../../domain/notifications/delivery-end.ts'
import { SHARDS_MAX } from '../../../domain/limits.ts'
import type {
  AlertDelivery,
  ChannelHealth,
  ChannelHealthReader,
  DeliveryReader,
} from '../../../ports/notifications.ts'
import type { TeamSettingsSource } from '../../../ports/settings.ts'
import { shardKeys, type Engine } from '../../base/engine/engine.ts'
import { fingerprintOf } from '../../base/layout/alert-record.ts'
import { channelRecordIn } from './channel-record.ts'
import { homeOfChannels } from './channel-steps.ts'
import { OTHER, readAlertRecords } from './team-totals.ts'

/** The alerts of a record among all of its fingerprint: `after + 1` to `to`. */
interface Place {
  readonly key: string
  readonly after: number
  readonly to: number
}

export function createDeliveryReader(engine: Engine, settings: TeamSettingsSource): DeliveryReader {
  return {
    deliveriesOf: async (team, alerts) => {
      const { channels } = settings.of(team)
      if (channels.length === 0 || alerts.length === 0) return new Map()
      const [states, log, places] = await Promise.all([
        readStates(engine, team),
        readLog(engine, team),
        placesOf(engine, team, alerts),
      ])
      return new Map(
        alerts.map((alert) => {
          const told = channels.filter(({ alertTypes }) => alertTypes.includes(alert.type))
          const place = places.get(alert.id)
          return [
            alert.id,
            told.flatMap((channel) => deliveryOn(channel, { alert, place, states, log }) ?? []),
          ]
        }),
      )
    },
  }
}

/** null = the channel was made later, or its log does not reach back as far. */
function deliveryOn(
  { name: channel }: Channel,
  facts: {
    readonly alert: Alert
    readonly place: Place | undefined
    readonly states: ReadonlyMap<string, ChannelState>
    readonly log: readonly DeliveryLogEntry[]
  },
): AlertDelivery | null {
  const { alert, place, states, log } = facts
  if (alert.suppressedBy !== null) return { channel, state: 'suppressed', answer: null, atMs: null }
  if (place === undefined) return null
  const ended = log.findLast((entry) => entry.channel === channel && overlaps(entry.ranges, place))
  const state = states.get(channel)
  const toldTo = state?.told[place.key]?.[1] ?? 0
  if (toldTo < place.to || ended === undefined) {
    if (state === undefined || toldTo >= place.to) return null
    const isTried = state.delivery !== null && overlaps(state.delivery.ranges, place)
    return { channel, state: 'pending', answer: isTried ? state.lastAnswer : null, atMs: null }
  }
  return { channel, state: ended.state, answer: ended.answer, atMs: ended.atMs }
}

function overlaps(ranges: Readonly<Record<string, ToldRange>>, { key, after, to }: Place): boolean {
  const range = ranges[key]
  return range !== undefined && range[1] < to && after < range[2]
}

async function placesOf(
  engine: Engine,
  team: string,
  alerts: readonly Alert[],
): Promise<ReadonlyMap<number, Place>> {
  const ids = alerts.map(({ id }) => id)
  const records = await readAlertRecords(engine, team, ids)
  const places = new Map<number, Place>()
  for (const [shard, ofShard] of Map.groupBy(records, ([id]) => id % SHARDS_MAX)) {
    const keys = shardKeys(engine, shard).alertTotals(team)
    const own = ofShard.map(([, { alert }]) => fingerprintOf(alert))
    const counted = await engine.runner.read((redis) => redis.hmget(keys, ...own))
    ofShard.forEach(([id, { alert, totalBefore }], i) => {
      const fingerprint = counted[i] === null ? `${alert.type}|${OTHER}` : (own[i] ?? '')
      const key = keyOfTotal({ shard, fingerprint })
      places.set(id, { key, after: totalBefore, to: totalBefore + alert.count })
    })
  }
  return places
}

async function readStates(engine: Engine, team: string): Promise<ReadonlyMap<string, ChannelState>> {
  const texts = await engine.runner.read((redis) =>
    redis.hgetall(homeOfChannels(engine, team).channelStates(team)),
  )
  return new Map(
    Object.entries(texts).flatMap(([channel, text]) => {
      const record = channelRecordIn(text)
      return record === null ? [] : [[channel, record.state] as const]
    }),
  )
}

/** Oldest first. */
async function readLog(engine: Engine, team: string): Promise<readonly DeliveryLogEntry[]> {
  const key = homeOfChannels(engine, team).deliveryLog(team)
  const texts = await engine.runner.read((redis) => redis.lrange(key, 0, -1))
  return texts.flatMap((text) => logEntryIn(text) ?? [])
}

function logEntryIn(text: string): DeliveryLogEntry | null {
  try {
    const entry = JSON.parse(text) as Partial<DeliveryLogEntry> | null
    return typeof entry?.ranges === 'object' ? (entry as DeliveryLogEntry) : null
  } catch {
    return null
  }
}

export function createChannelHealthReader(engine: Engine): ChannelHealthReader {
  return {
    healthOf: async (team) => {
      const states = await readStates(engine, team)
      return [...states]
        .map(([channel, state]) => healthIn(channel, state))
        .toSorted((a, b) => (a.channel < b.channel ? -1 : 1))
    },
  }
}

function healthIn(
  channel: string,
  { failingSinceMs, delivery, lastAnswer, lastTryAtMs }: ChannelState,
): ChannelHealth {
  const isRetrying = delivery !== null && delivery.phase === 'waiting'
  const isTold = failingSinceMs === null
  return {
    channel,
    state: !isTold ? 'failing' : isRetrying ? 'retrying' : 'ok',
    failingSinceMs,
    lastAnswer,
    lastTriedAtMs: lastTryAtMs === 0 ? null : lastTryAtMs,
  }
}
