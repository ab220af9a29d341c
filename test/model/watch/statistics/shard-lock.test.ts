import assert from 'node:assert/strict'
import { beforeEach, describe } from 'vitest'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import { ShardLock } from '../../../../src/redis/base/engine/shard-lock.ts'
import { STATISTICS } from '../../../../src/redis/base/layout/fields.ts'
import { openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'

const LEASE_MS = 10_000

describe('the lock of a shard', () => {
  let redis: TestRedis
  let world: World

  test.beforeAll(({ emptyRedis }) => {
    redis = emptyRedis
  })
  beforeEach(async () => {
    world = await openWorld(redis, { shards: 1 })
    return () => world.close()
  })

  const keys = () => shardKeys(world.engine, 0)
  const former = () => ({ hash: keys().statistics, field: STATISTICS.lockEndsAt })
  const newLock = () =>
    new ShardLock(world.engine, { key: keys().roundLock, leaseMs: LEASE_MS, former: [former()] })
  const noted = async () => Number(await redis.client.hget(former().hash, former().field))

  test('is held by one executor, which renews it, until its lease is over', async () => {
    const [one, two] = [newLock(), newLock()]
    assert.deepEqual([await one.take(), await two.take()], [true, false])
    world.clock.advance(LEASE_MS - 1)
    assert.deepEqual([await two.take(), await one.take()], [false, true])
    world.clock.advance(LEASE_MS - 1)
    assert.equal(await two.take(), false)
    world.clock.advance(1)
    assert.deepEqual([await two.take(), await one.take()], [true, false])
  })

  test('is free at once when the clock was set back', async () => {
    assert.equal(await newLock().take(), true)
    world.clock.jump(-3_600_000)
    assert.equal(await newLock().take(), true)
  })

  test('leaves a round to an executor of the version before that does it', async () => {
    await redis.client.hset(former().hash, former().field, String(world.clock.wallMs + LEASE_MS))
    const lock = newLock()
    assert.equal(await lock.take(), false)
    assert.equal(await redis.client.exists(keys().roundLock), 0)
    world.clock.advance(LEASE_MS)
    assert.equal(await lock.take(), true)
    await redis.client.hset(former().hash, former().field, String(world.clock.wallMs + LEASE_MS + 1))
    assert.equal(await lock.take(), false, 'one that took it beside ours')
  })

  test('tells executors of the version before until when it is held', async () => {
    const lock = newLock()
    for (const passedMs of [0, 4_000]) {
      world.clock.advance(passedMs)
      assert.equal(await lock.take(), true)
      assert.equal(await noted(), world.clock.wallMs + LEASE_MS)
    }
    assert.equal(await newLock().take(), false)
    assert.equal(await noted(), world.clock.wallMs + LEASE_MS)
  })

  test('expires, so that nothing is left of one that nobody takes any more', async () => {
    await newLock().take()
    const leftMs = await redis.client.pttl(keys().roundLock)
    assert.ok(leftMs > LEASE_MS && leftMs <= 2 * LEASE_MS, String(leftMs))
  })
})
