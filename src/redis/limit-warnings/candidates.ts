import { EXPIRING_WITHIN_MS } from '../../domain/alerts/limit-rules.ts'
import type { Engine } from '../client/engine.ts'
import { isCallbackQueue, type ShardKeys } from '../layout/keys.ts'
import { occupiedQueues } from '../queues/occupied-queues.ts'
import type { LookPlace } from './look-place.ts'
import { LOOK_FIELD, warnedResource } from './standing-warnings.ts'
import { turnOf } from './turn.ts'

/** Queues of each list that one look takes; the next look goes on behind them. */
export const LOOKED_QUEUES_MAX = 500
/** Queues with failures that are known at most: those that failed last. */
const FAILING_QUEUES_MAX = 10_000

/** What a look is about. */
export interface Candidates {
  readonly localIds: readonly string[]
  /** Teams with standing warnings. */
  readonly warnedTeams: readonly string[]
  /** Where the next look goes on; `team` is left as it was. */
  readonly place: LookPlace
}

/**
 * The queues for which a warning may change: those with taken slots, with failures within an hour, with something to
 * forget within a day, and with a warning that stands. An idle queue is in none of these lists.
 */
export async function findCandidates(engine: Engine, keys: ShardKeys, place: LookPlace): Promise<Candidates> {
  const nowMs = engine.runner.redisNowMs(keys.shard)
  const [occupied, failing, due, [standing, flat]] = await Promise.all([
    occupiedQueues(engine, keys),
    engine.runner.read((redis) => redis.zrange(keys.failingQueues, String(-FAILING_QUEUES_MAX), '-1')),
    engine.runner.read((redis) =>
      redis.zrangebyscore(
        ...([keys.retentionDue, '-inf', nowMs + EXPIRING_WITHIN_MS] as const),
        ...(['LIMIT', place.expiring, LOOKED_QUEUES_MAX] as const),
      ),
    ),
    engine.runner.read((redis) =>
      redis.hscan(keys.limitWarnings, place.standing, 'COUNT', LOOKED_QUEUES_MAX),
    ),
  ])
  const nextOccupied = turnOf(inOrder(occupied), place.inFlight, LOOKED_QUEUES_MAX)
  const nextFailing = turnOf(
    inOrder(failing.map((id) => localOf(engine, id))),
    place.failing,
    LOOKED_QUEUES_MAX,
  )
  const warned = flat.flatMap((field, i) =>
    i % 2 === 1 || field === LOOK_FIELD ? [] : (warnedResource(field) ?? []),
  )
  const localIds = new Set([
    ...nextOccupied.map(String),
    ...nextFailing.map(String),
    // Beside queues it lists the alerts of teams and trash.
    ...due.filter((member) => /^\d+$/.test(member) && !isCallbackQueue(member)),
    ...warned.flatMap((resource) => (resource.kind === 'queue' ? [resource.localId] : [])),
  ])
  return {
    localIds: [...localIds],
    warnedTeams: warned.flatMap((resource) => (resource.kind === 'team' ? [resource.team] : [])),
    place: {
      inFlight: nextOccupied.at(-1) ?? 0,
      failing: nextFailing.at(-1) ?? 0,
      expiring: due.length < LOOKED_QUEUES_MAX ? 0 : place.expiring + due.length,
      standing,
      team: place.team,
    },
  }
}

function inOrder(localIds: Iterable<number>): number[] {
  return [...new Set(localIds)].toSorted((a, b) => a - b)
}

function localOf(engine: Engine, queueId: string): number {
  return Math.floor(Number(queueId) / engine.shards.length)
}
