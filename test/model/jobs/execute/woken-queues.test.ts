import assert from 'node:assert/strict'
import { beforeEach, describe, expect } from 'vitest'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { assertClean, claimed, ended, openExecutor, pushOne } from '../../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../../support/engine/model-world.ts'
import { commandsDuring } from '../../../support/servers/command-counts.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'

describe('a claim behind a promotion', () => {
  let redis: TestRedis
  let world: World

  test.beforeAll(({ emptyRedis }) => {
    redis = emptyRedis
  })
  beforeEach(async () => {
    world = await openWorld(redis, { shards: 1 })
    return () => world.close()
  })

  /** Two teams with a queue each become runnable; answers what a claim so much later asked Redis, and its jobs. */
  async function claimAfter(waitMs: number) {
    const source = await openExecutor(world, `e${waitMs}`)
    const intake = world.newIntake()
    const ids = [
      await pushOne(intake, { start: { delaySeconds: 5 } }),
      await pushOne(intake, { start: { delaySeconds: 5 }, team: 'other' }),
    ]
    world.clock.advance(5_000)
    assert.equal((await createShardMaintenance(world.engine, 0).promote()).promoted, 2)
    world.clock.advance(waitMs)
    let works: Awaited<ReturnType<typeof claimed>> = []
    const commands = await commandsDuring(redis.client, async () => {
      works = await claimed(source, 10)
    })
    assert.deepEqual(new Set(works.map(({ jobId }) => jobId)), new Set(ids))
    await source.finish(works.map((work) => ended(world, work)))
    await assertClean(world)
    return commands
  }

  test('asks the queues that it has woken, and reads nothing before', async () => {
    const soon = await claimAfter(0)
    const later = await claimAfter(50)
    // Of the ring and of its teams.
    expect((later['zrange'] ?? 0) - (soon['zrange'] ?? 0)).toBe(2)
  })

  test('asks others at once where the woken ones are empty by then', async () => {
    const source = await openExecutor(world, 'e1')
    const intake = world.newIntake()
    await pushOne(intake, { queue: 'emptied' })
    const [taken] = await claimed(source, 1)
    await claimed(source, 1)
    const id = await pushOne(intake, { queue: 'full' })
    world.engine.wokenQueues.note(0, ['1', '1'], world.engine.runner.redisNowMs(0))
    assert.deepEqual(
      (await claimed(source, 1)).map(({ jobId }) => jobId),
      [id],
    )
    assert.equal(taken?.location.queue, '1')
  })
})
