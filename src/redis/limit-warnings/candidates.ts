import { EXPIRING_WITHIN_MS } from '../../domain/alerts/limit-rules.ts'
import type { Engine } from '../client/engine.ts'
import { isCallbackQueue, type ShardKeys } from '../layout/keys.ts'
import type { LookPlace } from './look-place.ts'
import { LOOK_FIELD, warnedResource } from './standing-warnings.ts'
import { turnOf } from './turn.ts'

/** Queues of each list that one look takes; the next look goes on behind them. */
export const LOOKED_QUEUES_MAX = 500
/** Executors and calls in flight of each that are read to find the queues with calls in flight. */
const LOOKED_EXECUTORS_MAX = 1_000
const HELD_PAGE = 500
/** Queues with failures that are known at most: those that failed last. */
const FAILING_QUEUES_MAX = 10_000
const HELD_PAGES_MAX = 100

/** What a look is about. */
export interface Candidates {
  readonly localIds: readonly string[]
  /** Teams with standing warnings. */
  readonly warnedTeams: readonly string[]
  /** Where the next look goes on; `team` is left as it was. */
  readonly place: LookPlace
}

/**
 * The queues for which a warning may change: those with calls in flight, with failures within an hour, with something to
 * forget within a day, and with a warning that stands. An idle queue is in none of these lists.
 */
export async function findCandidates(engine: Engine, keys: ShardKeys, place: LookPlace): Promise<Candidates> {
  const nowMs = engine.runner.redisNowMs(keys.shard)
  const [inFlight, failing, due, [standing, flat]] = await Promise.all([
    queuesInFlight(engine, keys),
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
  const nextInFlight = turnOf(inOrder(inFlight), place.inFlight, LOOKED_QUEUES_MAX)
  const nextFailing = turnOf(
    inOrder(failing.map((id) => localOf(engine, id))),
    place.failing,
    LOOKED_QUEUES_MAX,
  )
  const warned = flat.flatMap((field, i) =>
    i % 2 === 1 || field === LOOK_FIELD ? [] : (warnedResource(field) ?? []),
  )
  const localIds = new Set([
    ...nextInFlight.map(String),
    ...nextFailing.map(String),
    // Beside queues it lists the alerts of teams and trash.
    ...due.filter((member) => /^\d+$/.test(member) && !isCallbackQueue(member)),
    ...warned.flatMap((resource) => (resource.kind === 'queue' ? [resource.localId] : [])),
  ])
  return {
    localIds: [...localIds],
    warnedTeams: warned.flatMap((resource) => (resource.kind === 'team' ? [resource.team] : [])),
    place: {
      inFlight: nextInFlight.at(-1) ?? 0,
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

/** Read from what the executors hold, so that no other queue is touched. */
export async function queuesInFlight(engine: Engine, keys: ShardKeys): Promise<Set<number>> {
  const localIds = new Set<number>()
  const executors = await engine.runner.read((redis) =>
    redis.zrange(keys.executors, '0', String(LOOKED_EXECUTORS_MAX - 1)),
  )
  for (const executor of executors) {
    let cursor = '0'
    for (let page = 0; page < HELD_PAGES_MAX; page += 1) {
      const [next, flat] = await engine.runner.read((redis) =>
        redis.hscan(keys.heldJobs(executor), cursor, 'COUNT', HELD_PAGE),
      )
      for (const text of flat) {
        const [, localId] = /^(\d+)\|\d+$/.exec(text) ?? []
        if (localId !== undefined && !isCallbackQueue(localId)) localIds.add(Number(localId))
      }
      cursor = next
      if (cursor === '0') break
    }
  }
  return localIds
}
