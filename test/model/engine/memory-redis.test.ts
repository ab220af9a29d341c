import assert from 'node:assert/strict'
import { afterAll } from 'vitest'
import type { Redis } from 'ioredis'
import { DEFAULT_QUEUE_SETTINGS } from '../../../src/domain/jobs/queue-settings.ts'
import type { RedisConnection } from '../../../src/redis/base/client/connection.ts'
import { drawnSeeds } from '../../support/engine/drawn-seeds.ts'
import { openConnection, openWorld } from '../../support/engine/model-world.ts'
import type { TestRedis } from '../../support/servers/redis-server.ts'
import { test } from '../../support/servers/shared-redis.ts'
import { SeededRandom } from '../../simulation/story/seeded-random.ts'
import { inSortedOrder, openMemoryWorld } from './memory-world.ts'
import { PortDriver } from './port-driver.ts'

const SEEDS = drawnSeeds(20)
const OPS = 60
const COMPARED_EVERY = 10

let redis: TestRedis
let connection: RedisConnection
test.beforeAll(async ({ emptyRedis }) => {
  redis = emptyRedis
  connection = await openConnection(redis.url)
})
afterAll(() => connection.disconnect())

test('the Redis of the simulation answers and holds what a real one does', async () => {
  for (const seed of SEEDS) {
    const real = await openWorld(redis, { connection: inSortedOrder(connection), shards: 2 })
    real.newQueues = { ...DEFAULT_QUEUE_SETTINGS, retryDelays: [1, 70] }
    const memory = openMemoryWorld(real.clock, real.engine.jobIds, real.newQueues)
    const drivers = [new PortDriver(real, seed), new PortDriver(memory, seed)] as const
    const random = new SeededRandom(seed)
    for (let i = 1; i <= OPS; i += 1) {
      // Time is one and the same for both.
      if (random.chance(0.25)) real.clock.advance(random.pick([1, 700, 3_000, 16_000, 61_000]))
      if (random.chance(0.03)) real.clock.jump(random.pick([4_000, -4_000, 30_000, -30_000]))
      const [ours, theirs] = [await drivers[0].step(), await drivers[1].step()]
      assert.deepEqual(theirs, ours, `seed ${seed}, step ${i}`)
      if (i % COMPARED_EVERY > 0) continue
      assert.deepEqual(
        withoutNonces(memory.dump()),
        withoutNonces(await dump(redis.client)),
        `seed ${seed}, step ${i}`,
      )
    }
  }
})

/** Every key of a real Redis as `MemoryRedis.dump` gives them. */
async function dump(client: Redis): Promise<Record<string, unknown>> {
  const all: Record<string, unknown> = {}
  for (const key of await client.keys('*')) {
    const kind = await client.type(key)
    if (kind === 'hash') all[key] = { ...(await client.hgetall(key)) }
    else if (kind === 'list') all[key] = await client.lrange(key, 0, -1)
    else if (kind === 'set') all[key] = (await client.smembers(key)).toSorted((a, b) => (a < b ? -1 : 1))
    else if (kind === 'string') all[key] = await client.get(key)
    else if (kind === 'stream') {
      all[key] = (await client.xrange(key, '-', '+')).map(([id, [, text]]) => `${id} ${text}`)
    } else {
      const flat = await client.zrange(key, '0', '-1', 'WITHSCORES')
      all[key] = Array.from({ length: flat.length / 2 }, (_, i) => [flat[i * 2], Number(flat[i * 2 + 1])])
    }
  }
  return all
}

/**
 * Who took an id block is drawn by chance, in each process anew; the entries of an audit log carry the time of Redis; what
 * an installation is stands outside the shards.
 */
function withoutNonces(all: Record<string, unknown>): Record<string, unknown> {
  const shown = Object.entries(all).filter(([key]) => key !== 'punctual:meta')
  return Object.fromEntries(
    shown.map(([key, value]) => {
      if (key.includes(':im:')) return [key.replace(/:im:.*/, ':im:'), value]
      if (key.includes(':ix:')) return [key, { ...(value as object), o: '' }]
      if (key.includes(':dau:')) return [key, (value as string[]).map((entry) => entry.replace(/^\S+ /, ''))]
      if (key.includes(':dauc:'))
        return [
          key,
          Object.values(value as Record<string, string>)
            .map((counted) => counted.replace(/ \d+ /, ' '))
            .toSorted(),
        ]
      return [key, value]
    }),
  )
}
