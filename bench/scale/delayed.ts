import type { Redis } from 'ioredis'
import type { Engine } from '../../src/redis/base/engine/engine.ts'
import { startTarget } from '../harness/nginx-target.ts'
import { sleep, waitUntil } from '../harness/waiting.ts'
import { fill, openConnection, openScaleEngine } from './filling.ts'
import type { ScaleRun } from './measurement.ts'
import { RedisNode } from './redis-node.ts'
import { Roles } from './roles.ts'

const SHARDS = 4
const QUEUES = 100
const CONCURRENCY = 300
const MINUTE_MS = 60_000
/** A minute is poured into the near set from a minute before it on. */
const POUR_AHEAD_MS = 60_000
/** Jobs that are stored a second at least. */
const STORED_PER_SECOND = 15_000
const DONE_WITHIN_MS = 900_000
const LOOK_MS = 50

/** So many jobs that are due at one instant, an executor that promotes and calls them. */
export async function measureDelayed(run: ScaleRun): Promise<void> {
  const redis = await RedisNode.start(run.folder)
  const target = await startTarget(run.folder)
  const connection = await openConnection(redis.url)
  const roles = new Roles({ folder: run.folder, redisUrl: redis.url, shards: SHARDS })
  try {
    const engine = await openScaleEngine(connection, SHARDS)
    const storedMs = (run.size / STORED_PER_SECOND) * 1000
    const dueMs = Math.ceil((Date.now() + storedMs + POUR_AHEAD_MS + 5_000) / MINUTE_MS) * MINUTE_MS
    await fill(engine, { count: run.size, queues: QUEUES, url: target.url, start: { runAtMs: dueMs } })
    run.say(`stored ${Math.round((dueMs - Date.now()) / 1000)} s before they are due`)
    await roles.startExecutor(CONCURRENCY)
    await redis.resetCounts()
    await waitUntil('the minute is poured', async () => (await waiting(redis.client, engine)).later === 0, {
      withinMs: DONE_WITHIN_MS,
      everyMs: LOOK_MS,
    })
    run.record('poured into the near set, before they are due', 's', (dueMs - Date.now()) / 1000)
    await recordLongest(run, redis, 'until they are due')
    await sleep(Math.max(0, dueMs - 500 - Date.now()))
    await redis.resetCounts()
    const promotedMs = (await promoted(redis.client, engine)) - dueMs
    run.record('last job ready after it is due', 's', promotedMs / 1000)
    run.record('promoted a second, beside calls', 'jobs/s', run.size / (promotedMs / 1000))
    await waitUntil('all are called', async () => (await target.count()) >= run.size, {
      withinMs: DONE_WITHIN_MS,
      everyMs: LOOK_MS,
    })
    const calledMs = Date.now() - dueMs
    run.record('last job called after it is due', 's', calledMs / 1000)
    run.record('called a second', 'jobs/s', run.size / (calledMs / 1000))
    await recordLongest(run, redis, 'from then on')
  } finally {
    await roles.stop()
    connection.disconnect()
    await redis.stop()
    await target.stop()
  }
}

async function recordLongest(run: ScaleRun, redis: RedisNode, when: string): Promise<void> {
  const { ms, command } = await redis.longestCommand()
  run.say(`longest command ${when}: ${command}`)
  run.record(`longest command of Redis ${when}`, 'ms', ms)
}

/** Answers when the last job was promoted. */
async function promoted(client: Redis, engine: Engine): Promise<number> {
  const isDone = async () => (await waiting(client, engine)).near === 0
  await waitUntil('all are promoted', isDone, { withinMs: DONE_WITHIN_MS, everyMs: LOOK_MS })
  return Date.now()
}

/** Jobs in minute buckets, by minutes, and in the near sets. */
async function waiting(client: Redis, engine: Engine): Promise<{ later: number; near: number }> {
  let [later, near] = [0, 0]
  for (const keys of engine.shards) {
    later += await client.zcard(keys.minutes)
    near += await client.zcard(keys.nearSet)
  }
  return { later, near }
}
