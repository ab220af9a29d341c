import type { ExecutorsStatus, ExecutorStatus } from '../../../ports/live/status.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { readShardClock } from '../../base/engine/shard-clock.ts'
import { nameOfExecutor, slotsOfExecutor } from '../../base/layout/executor-id.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'

/** Leases that are read of a shard; those that end last come first. */
const LEASES_READ_MAX = 1_000
const EXECUTORS_SHOWN_MAX = 100

interface Lease {
  readonly name: string
  readonly slots: number | null
  readonly endsInMs: number
}

interface ShardLeases {
  readonly valid: readonly Lease[]
  readonly expired: number
}

/** What the executors with one name have in one shard. */
interface Share {
  count: number
  slots: number | null
  endsInMs: number
}

/** Reads the leases of all shards. Throws StoreUnavailableError. */
export async function readExecutors(engine: Engine): Promise<ExecutorsStatus> {
  const shards = await Promise.all(engine.shards.map((keys) => readLeases(engine, keys)))
  const byName = new Map<string, Share[]>()
  for (const { valid } of shards) {
    for (const [name, share] of sharesOf(valid)) byName.set(name, [...(byName.get(name) ?? []), share])
  }
  const all = [...byName].map(([name, shares]) => ({
    count: Math.max(...shares.map(({ count }) => count)),
    status: statusOf(name, shares),
  }))
  return {
    areEverywhere: shards.every(({ valid }) => valid.length > 0),
    alive: all.reduce((sum, { count }) => sum + count, 0),
    slots: all.reduce<number | null>((sum, { status }) => plus(sum, status.slots), 0),
    expiredLeases: shards.reduce((sum, { expired }) => sum + expired, 0),
    executors: all
      .map(({ status }) => status)
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .slice(0, EXECUTORS_SHOWN_MAX),
  }
}

/** An executor has a lease in each shard, under another id in each, and makes its calls for all of them. */
function statusOf(name: string, shares: readonly Share[]): ExecutorStatus {
  const slots = shares.map((share) => share.slots)
  return {
    name,
    slots: slots.some((one) => one === null) ? null : Math.max(...slots.map(Number)),
    shards: shares.length,
    leaseEndsInMs: Math.min(...shares.map(({ endsInMs }) => endsInMs)),
  }
}

function sharesOf(leases: readonly Lease[]): ReadonlyMap<string, Share> {
  const shares = new Map<string, Share>()
  for (const { name, slots, endsInMs } of leases) {
    const before = shares.get(name)
    shares.set(name, {
      count: (before?.count ?? 0) + 1,
      slots: before === undefined ? slots : plus(before.slots, slots),
      endsInMs: Math.min(before?.endsInMs ?? Infinity, endsInMs),
    })
  }
  return shares
}

function plus(sum: number | null, one: number | null): number | null {
  return sum === null || one === null ? null : sum + one
}

async function readLeases(engine: Engine, keys: ShardKeys): Promise<ShardLeases> {
  const [{ nowMs }, rows] = await Promise.all([
    readShardClock(engine, keys),
    engine.runner.read((redis) =>
      redis.zrange(keys.executors, '0', String(LEASES_READ_MAX - 1), 'REV', 'WITHSCORES'),
    ),
  ])
  const leases: Lease[] = []
  for (let at = 0; at + 1 < rows.length; at += 2) {
    const id = rows[at] ?? ''
    const endsInMs = Number(rows[at + 1]) - nowMs
    leases.push({ name: nameOfExecutor(id), slots: slotsOfExecutor(id), endsInMs })
  }
  const valid = leases.filter(({ endsInMs }) => endsInMs > 0)
  return { valid, expired: leases.length - valid.length }
}
