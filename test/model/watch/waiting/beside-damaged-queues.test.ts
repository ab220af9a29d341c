import assert from 'node:assert/strict'
import { afterAll, describe } from 'vitest'
import type { RedisConnection } from '../../../../src/redis/base/client/connection.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import type { QueueKeyName } from '../../../../src/redis/base/layout/keys.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import type { Scripts } from '../../../../src/redis/steps.ts'
import { assertClean, claimed, ended, openExecutor, pushOne } from '../../../support/engine/model-executor.ts'
import { openConnection, openWorld } from '../../../support/engine/model-world.ts'
import { loadWrappedScripts } from '../../../support/lua/wrapped-scripts.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'

const TEAMS = ['a', 'bad', 'c'] as const
const DELAY_SECONDS = 5

let redis: TestRedis
let connection: RedisConnection

test.beforeAll(async ({ emptyRedis }) => {
  redis = emptyRedis
  connection = await openConnection(redis.url)
})
afterAll(() => connection.disconnect())

/** A delayed job of each team is due, and a key of the bad team's queue is of another type. */
async function play(name: QueueKeyName, scripts?: Scripts): Promise<void> {
  const world = await openWorld(redis, {
    connection,
    shards: 1,
    ...(scripts === undefined ? {} : { scripts }),
  })
  const keys = shardKeys(world.engine, 0)
  const maintenance = createShardMaintenance(world.engine, 0)
  const intake = world.newIntake()
  const ids: number[] = []
  for (const team of TEAMS) {
    ids.push(await pushOne(intake, { team, queue: 'q', start: { delaySeconds: DELAY_SECONDS } }))
  }
  world.clock.advance(DELAY_SECONDS * 1000)
  const key = keys.queueKey(name, '2')
  const hadKey = (await redis.client.copy(key, 'kept')) === 1
  await redis.client.del(key)
  await redis.client.set(key, 'damaged')
  const { promoted } = await maintenance.promote()
  assert.equal(promoted, 2)
  assert.equal((await maintenance.promote()).promoted, 0)
  const executor = await openExecutor(world, 'e1')
  // A claim names the queues that the next one asks.
  const claimAll = async (): Promise<number[]> => {
    const works = [...(await claimed(executor, 64)), ...(await claimed(executor, 64))]
    if (works.length > 0) await executor.finish(works.map((work) => ended(world, work)))
    return works.map(({ jobId }) => jobId).toSorted((x, y) => x - y)
  }
  assert.deepEqual(await claimAll(), [ids[0], ids[2]])
  // Its own job has waited.
  await redis.client.del(key)
  if (hadKey) await redis.client.rename('kept', key)
  assert.equal((await maintenance.promote()).promoted, 1)
  assert.deepEqual(await claimAll(), [ids[1]])
  await executor.leave()
  await assertClean(world)
}

describe('a queue with delayed jobs and a key of another type', () => {
  test.each(['ready', 'records', 'meta'] as const)(
    '%s: the jobs of other teams are due once each, and its own when the key is mended',
    async (name) => {
      await assert.doesNotReject(play(name))
    },
  )

  test('what a step takes back is missed', async () => {
    const right = 'guarded(queue.localId, drop_ready, queue.ready, id)'
    let isPlanted = false
    const scripts = loadWrappedScripts((source, step) => {
      if (step !== 'promote') return source
      isPlanted = source.includes(right)
      return source.replace(right, '')
    })
    assert.ok(isPlanted, 'the step has changed: plant the bug in its new text')
    await assert.rejects(play('ready', scripts))
  })
})
