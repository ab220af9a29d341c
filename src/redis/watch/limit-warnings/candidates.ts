import { EXPIRING_WITHIN_MS } from '../../../domain/alerts/limit-rules.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { isCallbackQueue, type ShardKeys } from '../../base/layout/keys.ts'
import type { ScanPosition } from './scan-position.ts'
import { SCAN_FIELD, warnedResource } from './standing-warnings.ts'
import { nextOf } from './next-of.ts'

/** One scan takes at most this many queues of each list; the next scan goes on behind them. */
export const SCANNED_QUEUES_MAX = 500
/** At most this many queues with failures are known, those that failed last. */
const FAILING_QUEUES_MAX = 10_000

/** What a scan is about. */
export interface Candidates {
  readonly localIds: readonly string[]
  /** The teams with standing warnings. */
  readonly warnedTeams: readonly string[]
  /** Where the next scan goes on. `team` stays as it was. */
  readonly position: ScanPosition
}

/**
 * Finds the queues for which a warning may change: those with occupied slots, with failures within an hour, with
 * something to forget within a day, and with a warning that stands. An idle queue is in none of these lists.
 */
export async function findCandidates(
  engine: Engine,
  keys: ShardKeys,
  { position, occupied }: { readonly position: ScanPosition; readonly occupied: ReadonlySet<number> },
): Promise<Candidates> {
  const nowMs = engine.runner.redisNowMs(keys.shard)
  const [failing, due, [standing, flat]] = await Promise.all([
    engine.runner.read((redis) => redis.zrange(keys.failingQueues, String(-FAILING_QUEUES_MAX), '-1')),
    engine.runner.read((redis) =>
      redis.zrangebyscore(
        keys.retentionDue,
        '-inf',
        nowMs + EXPIRING_WITHIN_MS,
        'LIMIT',
        position.expiring,
        SCANNED_QUEUES_MAX,
      ),
    ),
    engine.runner.read((redis) =>
      redis.hscan(keys.limitWarnings, position.standing, 'COUNT', SCANNED_QUEUES_MAX),
    ),
  ])
  const nextOccupied = nextOf(inOrder(occupied), position.inFlight, SCANNED_QUEUES_MAX)
  const nextFailing = nextOf(
    inOrder(failing.map((id) => localOf(engine, id))),
    position.failing,
    SCANNED_QUEUES_MAX,
  )
  const warned = flat.flatMap((field, i) =>
    i % 2 === 1 || field === SCAN_FIELD ? [] : (warnedResource(field) ?? []),
  )
  const localIds = new Set([
    ...nextOccupied.map(String),
    ...nextFailing.map(String),
    // The list also has the alerts of teams, and trash.
    ...due.filter((member) => /^\d+$/.test(member) && !isCallbackQueue(member)),
    ...warned.flatMap((resource) => (resource.kind === 'queue' ? [resource.localId] : [])),
  ])
  return {
    localIds: [...localIds],
    warnedTeams: warned.flatMap((resource) => (resource.kind === 'team' ? [resource.team] : [])),
    position: {
      inFlight: nextOccupied.at(-1) ?? 0,
      failing: nextFailing.at(-1) ?? 0,
      expiring: due.length < SCANNED_QUEUES_MAX ? 0 : position.expiring + due.length,
      standing,
      team: position.team,
    },
  }
}

function inOrder(localIds: Iterable<number>): number[] {
  return [...new Set(localIds)].toSorted((a, b) => a - b)
}

function localOf(engine: Engine, queueId: string): number {
  return Math.floor(Number(queueId) / engine.shards.length)
}
