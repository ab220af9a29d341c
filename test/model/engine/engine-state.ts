import assert from 'node:assert/strict'
import type { Redis } from 'ioredis'
import { decodeFinished } from '../../../src/redis/base/layout/finished-record.ts'
import type { ShardKeys } from '../../../src/redis/base/layout/keys.ts'
import type { EngineModel } from './engine-model.ts'
import type { KeptCall, ModelQueue } from './model-records.ts'

/** Reads what Redis holds and says how it differs from the model. Structure is the inspection's business, not looked at here. */
export async function differences(
  client: Redis,
  shards: readonly ShardKeys[],
  model: EngineModel,
): Promise<string[]> {
  const found: string[] = []
  const compare = (what: string, real: Iterable<string>, expected: Iterable<string>) => {
    const [a, b] = [[...real].toSorted().join(' '), [...expected].toSorted().join(' ')]
    if (a !== b) found.push(`${what}: Redis has [${a}], the model [${b}]`)
  }
  for (const keys of shards) {
    const shard = model.shard(keys.shard)
    const queues = [...model.queues.values()].filter((queue) => queue.shard === keys.shard)
    const replies = await readShard(
      client,
      keys,
      [...shard.callbacks.values(), ...queues],
      [...shard.leases.keys()],
    )
    const names = [...model.queues].filter(([, queue]) => queue.shard === keys.shard)
    compare(
      `names of ${keys.shard}`,
      replies.names,
      names.map(([field, queue]) => `${field}=${queue.localId}`),
    )
    compare(
      `leases of ${keys.shard}`,
      replies.leases,
      [...shard.leases].map(([executor, lease]) => `${executor}=${lease}`),
    )
    compare(
      `pushed queues of ${keys.shard}`,
      replies.pushed,
      queues.filter((queue) => queue.isPushed).map((queue) => queue.localId),
    )
    for (const [executor, held] of replies.held) {
      const expected = [...(shard.held.get(executor) ?? [])]
      compare(
        `held by ${executor}`,
        held,
        expected.map(([id, entry]) => `${id}=${entry.queue.localId}|${entry.token}`),
      )
    }
    for (const [queue, real] of replies.queues) compareQueue(model, queue, real, compare)
  }
  return found
}

interface RealQueue {
  readonly bodies: string[]
  readonly ready: string[]
  readonly slots: string[]
  readonly dead: string[]
  readonly finished: string[]
  readonly failedCalls: string[]
  readonly successfulCalls: string[]
}

/** A suspect's due time is added to this. */
const SUSPECT_WAITS = 9_000_000_000_000_000

function compareQueue(
  model: EngineModel,
  queue: ModelQueue,
  real: RealQueue,
  compare: (what: string, real: Iterable<string>, expected: Iterable<string>) => void,
): void {
  const jobs = model.inQueue(queue.key)
  const bodies = new Set(real.bodies)
  const inFlight = jobs.filter((job) => job.place === 'in_flight')
  // A suspect that waits keeps its slot.
  const suspects = real.slots.filter((slot) => Number(slot.split('=')[1]) >= SUSPECT_WAITS)
  compare(
    `jobs of ${queue.key}`,
    real.bodies,
    jobs.map((job) => String(job.id)),
  )
  compare(
    `ready in ${queue.key}`,
    [...real.ready.filter((id) => bodies.has(id)), ...suspects.map((slot) => slot.split('=')[0] ?? '')],
    jobs.filter((job) => job.place === 'ready').map((job) => String(job.id)),
  )
  compare(
    `in flight in ${queue.key}`,
    real.slots.filter((slot) => !suspects.includes(slot)),
    inFlight.map((job) => `${job.id}=${job.deadlineMs}`),
  )
  const letters = [...model.dead].filter(([, letter]) => letter.queue === queue)
  compare(
    `dead in ${queue.key}`,
    real.dead,
    letters.map(([root, letter]) => `${root}=${letter.purgeAtMs}`),
  )
  const chains = [...model.finished].filter(([, chain]) => chain.queue === queue)
  compare(
    `finished in ${queue.key}`,
    real.finished,
    chains.map(([root, chain]) => `${root}=${chain.end}`),
  )
  const calls = (kept: ModelQueue['failedCalls']) => kept.map((call) => String(call.jobId))
  compare(`failed calls of ${queue.key}`, real.failedCalls, calls(queue.failedCalls))
  compare(`successful calls of ${queue.key}`, real.successfulCalls, calls(queue.successfulCalls))
}

async function readShard(
  client: Redis,
  keys: ShardKeys,
  queues: readonly ModelQueue[],
  executors: readonly string[],
) {
  const pipeline = client.pipeline()
  pipeline
    .hgetall(keys.queueIds)
    .zrange(keys.executors, '0', '-1', 'WITHSCORES')
    .smembers(keys.pushedBucket('1'))
  for (const executor of executors) pipeline.hgetall(keys.heldJobs(executor))
  for (const queue of queues) {
    const k = keys.queue(queue.localId)
    pipeline
      .hkeys(k.records)
      .lrange(k.ready, 0, -1)
      .zrange(k.inFlight, '0', '-1', 'WITHSCORES')
      .zrange(k.deadLetters, '0', '-1', 'WITHSCORES')
    pipeline.hgetall(k.summaries).lrange(k.failedCalls, 0, -1).lrange(k.successfulCalls, 0, -1)
  }
  const values = ((await pipeline.exec()) ?? []).map(([error, value]) => {
    if (error !== null) throw error
    return value
  })
  const take = (): unknown => values.shift()
  const names = pairs(take() as Record<string, string>)
  const leases = scored(take() as string[])
  const pushed = take() as string[]
  const held = executors.map((executor) => {
    const fields = pairs(take() as Record<string, string>).filter((pair) => !pair.startsWith('#'))
    return [executor, fields] as const
  })
  const read = queues.map((queue): [ModelQueue, RealQueue] => [
    queue,
    {
      bodies: take() as string[],
      ready: take() as string[],
      slots: scored(take() as string[]),
      dead: scored(take() as string[]),
      finished: Object.entries(take() as Record<string, string>).map(
        ([root, text]) => `${root}=${decodeFinished(text).end}`,
      ),
      failedCalls: take() as string[],
      successfulCalls: take() as string[],
    },
  ])
  return { names, leases, pushed, held, queues: read }
}

function pairs(hash: Record<string, string>): string[] {
  return Object.entries(hash).map(([field, value]) => `${field}=${value}`)
}

function scored(flat: readonly string[]): string[] {
  const found: string[] = []
  for (let i = 0; i < flat.length; i += 2) found.push(`${flat[i]}=${flat[i + 1]}`)
  return found
}

export function keepHead(model: KeptCall[], real: readonly string[]): KeptCall[] {
  const head = model.slice(0, real.length)
  assert.deepEqual(
    head.map((call) => String(call.jobId)),
    real,
    'call records went from the middle',
  )
  return head
}
