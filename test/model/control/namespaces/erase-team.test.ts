import { afterAll, beforeEach, expect } from 'vitest'
import { createCronStore } from '../../../../src/redis/crons/cron-store.ts'
import type { RedisConnection } from '../../../../src/redis/base/client/connection.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { cronSettings } from '../../../support/engine/cron-settings.ts'
import { assertClean, pushAll } from '../../../support/engine/model-executor.ts'
import { openConnection, openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { eraseAll, furnish } from './erase-scenes.ts'

let redis: TestRedis
let connection: RedisConnection
let world: World

test.beforeAll(async ({ emptyRedis }) => {
  redis = emptyRedis
  connection = await openConnection(redis.url)
})
afterAll(() => connection.disconnect())
beforeEach(async () => {
  world = await openWorld(redis, { connection, shards: 2 })
  return () => world.close()
})

/** Keys that name a team, but for its audit log. */
async function keysOf(team: string): Promise<string[]> {
  const keys = await redis.client.keys('*')
  return keys.filter((key) => new RegExp(`:t?${team}(?:/|$)`).test(key) && !/:[ds]?a(?:u|uc|q):/.test(key))
}

test('nothing of the team is left but its audit log, and all of its neighbour', async () => {
  await furnish(world)
  const crons = createCronStore(world.engine)
  await crons.apply('default', 'nightly', cronSettings())
  await crons.apply('mail', 'nightly', cronSettings())
  await pushAll(world.newIntake(), 3, { team: 'mail', queue: 'emails' })
  expect((await keysOf('default')).length).toBeGreaterThan(5)
  const before = await keysOf('mail')
  expect(await eraseAll(world, 'default')).toBeGreaterThan(1)
  expect(await keysOf('default')).toEqual([])
  expect(await keysOf('mail')).toEqual(before)
  const queue = await createQueueStore(world.engine).getByName('mail', 'emails')
  expect(queue?.counts.pending).toBe(3)
  await assertClean(world)
})

test('many queues go page by page, and what is gone already is not found', async () => {
  const intake = world.newIntake()
  for (let i = 0; i < 120; i += 1) await pushAll(intake, 1, { queue: `q${i}` })
  expect(await eraseAll(world, 'default')).toBe(120)
  expect(await eraseAll(world, 'default')).toBe(0)
  await assertClean(world)
})

test('a team that never was has nothing to erase', async () => {
  expect(await eraseAll(world, 'nobody')).toBe(0)
  await assertClean(world)
})
