import { beforeEach, expect } from 'vitest'
import { LEASE_MARGIN_MS, LEASE_MS } from '../../../../src/domain/limits.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import { checkLeases } from '../../../../src/redis/upkeep/checks/lease-check.ts'
import { openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'

let redis: TestRedis
let world: World

test.beforeAll(({ emptyRedis }) => {
  redis = emptyRedis
})
beforeEach(async () => {
  world = await openWorld(redis, { shards: 1 })
  return () => world.close()
})

test('an executor is reported when nobody has reaped it for a whole lease after its own', async () => {
  const { executors } = shardKeys(world.engine, 0)
  await redis.client.zadd(executors, world.clock.wallMs - LEASE_MARGIN_MS - LEASE_MS, 'e1')
  expect(await checkLeases(world.engine)).toEqual({ summary: '0 executors alive', findings: [] })
  world.clock.advance(1)
  const { findings } = await checkLeases(world.engine)
  expect(findings).toMatchObject([{ severity: 'failed', subject: 'executor e1 in shard 0' }])
})
