import assert from 'node:assert/strict'
import { afterAll, beforeEach } from 'vitest'
import type { RedisConnection } from '../../../../src/redis/base/client/connection.ts'
import { shardKeys, type Engine } from '../../../../src/redis/base/engine/engine.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { claimed, openExecutor, pushAll } from '../../../support/engine/model-executor.ts'
import { openConnection, openWorld, type World } from '../../../support/engine/model-world.ts'
import { quietLogger, quietMetrics } from '../../../support/quiet.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'

/** Local ids of the queues, in the order of their first jobs. */
const BAD = '1'
const GOOD = '2'
const JOBS = 5

let redis: TestRedis
let connection: RedisConnection
let world: World
let engine: Engine
let told: unknown[]

test.beforeAll(async ({ emptyRedis }) => {
  redis = emptyRedis
  connection = await openConnection(redis.url)
})
afterAll(() => connection.disconnect())
beforeEach(async () => {
  world = await openWorld(redis, { connection, shards: 1 })
  told = []
  engine = {
    ...world.engine,
    logger: {
      ...quietLogger,
      error: (_, fields) => {
        if (fields?.['kind'] === 'upkeep') told.push(fields['queue'])
      },
    },
    metrics: quietMetrics,
  }
})

const keys = () => shardKeys(engine, 0)

/** Some jobs of the bad queue, and as many of the good one; answers the latter. */
async function pushBoth(change: Parameters<typeof pushAll>[2] = {}): Promise<number[]> {
  const intake = world.newIntake()
  await pushAll(intake, JOBS, { ...change, queue: 'bad' })
  return pushAll(intake, JOBS, { ...change, queue: 'good' })
}

/** Puts a text in the place of whatever the key holds. */
async function damage(key: string): Promise<void> {
  await redis.client.del(key)
  await redis.client.set(key, 'damaged')
}

test('jobs of a lost executor go back beside those of a queue whose records cannot be read', async () => {
  const good = await pushBoth()
  const lost = await openExecutor(world, 'lost')
  assert.equal((await claimed(lost, 64)).length, 2 * JOBS)
  await damage(keys().queue(BAD).records)
  const upkeep = createShardMaintenance(engine, 0)
  for (let i = 0; i < 2; i += 1) {
    world.clock.advance(8_600)
    await upkeep.promote()
  }
  assert.deepEqual(await upkeep.reap(), { jobs: JOBS, executors: 1 })
  assert.deepEqual(told, Array(JOBS).fill(BAD))
  const next = await claimed(await openExecutor(world, 'next'), 64)
  assert.deepEqual(
    next.map(({ kind, jobId }) => `${kind} ${jobId}`).toSorted(),
    good.map((id) => `job ${id}`).toSorted(),
  )
})

test('delayed jobs become ready beside those of a queue that cannot take them, which is tried again soon', async () => {
  const good = await pushBoth({ start: { delaySeconds: 5 } })
  await damage(keys().queue(BAD).ready)
  world.clock.advance(5_000)
  engine.runner.noteRedisTime(0, world.clock.wallMs)
  const { promoted, nextDueMs } = await createShardMaintenance(engine, 0).promote()
  assert.equal(promoted, JOBS)
  const ready = await redis.client.lrange(keys().queue(GOOD).ready, 0, -1)
  assert.deepEqual(ready.toSorted(), good.map(String).toSorted())
  assert.deepEqual(told, [BAD])
  assert.equal(nextDueMs, engine.runner.redisNowMs(0) + 250)
  assert.equal(await redis.client.zcard(keys().nearSet), JOBS)
})
