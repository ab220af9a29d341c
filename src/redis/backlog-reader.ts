import type { Backlog, BacklogReader } from '../ports/backlog.ts'
import type { Engine } from './engine.ts'
import { nameOfExecutor } from './executor-id.ts'
import type { ShardKeys } from './keys.ts'

/** Queues of a shard's ring one look goes through; what lies beyond is taken to be like these. */
const LOOKED_QUEUES_MAX = 500
/** Minutes one look counts; a horizon within which more begin would count too few. */
const LOOKED_MINUTES_MAX = 4
/** Executors of a shard one look counts; more would be missing in `held` and `inFlight`. */
const LOOKED_EXECUTORS_MAX = 1_000

interface ShardBacklog extends Omit<Backlog, 'held' | 'usable'> {
  readonly startable: number
  /** Executor id and its calls. */
  readonly held: ReadonlyArray<readonly [executor: string, calls: number]>
}

/** Three commands a shard and look, whatever waits; each is bounded by the constants above. */
export function createBacklogReader(engine: Engine): BacklogReader {
  return {
    read: async (horizonMs) => {
      const shards = await Promise.all(engine.shards.map((keys) => readShard(engine, keys, horizonMs)))
      const sum = (of: (shard: ShardBacklog) => number) =>
        shards.reduce((total, shard) => total + of(shard), 0)
      const inFlight = sum((shard) => shard.inFlight)
      return {
        ready: sum((shard) => shard.ready),
        inFlight,
        usable: inFlight + sum((shard) => shard.startable),
        dueSoon: sum((shard) => shard.dueSoon),
        nextDueInMs: extreme(Math.min, shards, (shard) => shard.nextDueInMs),
        oldestReadyMs: extreme(Math.max, shards, (shard) => shard.oldestReadyMs),
        held: heldByName(shards),
      }
    },
  }
}

async function readShard(engine: Engine, keys: ShardKeys, horizonMs: number): Promise<ShardBacklog> {
  const [queues, minutes, executors] = await engine.runner.read((redis) =>
    Promise.all([
      redis.zrange(keys.ring, '0', String(LOOKED_QUEUES_MAX - 1)),
      redis.zrange(keys.mins, '0', String(LOOKED_MINUTES_MAX - 1)),
      redis.zrange(keys.ex, '0', String(LOOKED_EXECUTORS_MAX - 1)),
    ]),
  )
  const declared = queues.flatMap((localId) => {
    const { q, r, b, a } = keys.queue(localId)
    return [q, r, b, a]
  })
  const reply = await engine.runner.run(
    'read_backlog',
    [
      ...[keys.ring, keys.near, keys.mins, keys.crons],
      ...minutes.map((minute) => keys.minute(Number(minute))),
      ...executors.map((executor) => keys.held(executor)),
      ...declared,
    ],
    [horizonMs, minutes.length, ...minutes, executors.length, queues.length],
  )
  const [now, ring, ready, startable, oldest, dueSoon, nextDue, held] = reply as [
    ...[now: string, ring: number, ready: number, startable: number, oldest: string],
    ...[dueSoon: number, nextDue: string, held: number[]],
  ]
  const beyond = queues.length > 0 ? Math.max(1, ring / queues.length) : 1
  return {
    ready: Math.round(ready * beyond),
    startable: Math.round(startable * beyond),
    inFlight: held.reduce((sum, calls) => sum + calls, 0),
    dueSoon,
    nextDueInMs: nextDue === '' ? null : Math.max(0, Number(nextDue) - Number(now)),
    oldestReadyMs: oldest === '' ? null : Math.max(0, Number(now) - Number(oldest)),
    held: executors.map((executor, i) => [executor, held[i] ?? 0]),
  }
}

function extreme(
  pick: (...values: number[]) => number,
  shards: readonly ShardBacklog[],
  of: (shard: ShardBacklog) => number | null,
): number | null {
  const values = shards.map(of).filter((value) => value !== null)
  return values.length === 0 ? null : pick(...values)
}

/** An executor has a lease in each shard, and another id after each one that it lost. */
function heldByName(shards: readonly ShardBacklog[]): Map<string, number> {
  const held = new Map<string, number>()
  for (const [executor, calls] of shards.flatMap((shard) => shard.held)) {
    const name = nameOfExecutor(executor)
    held.set(name, (held.get(name) ?? 0) + calls)
  }
  return held
}
