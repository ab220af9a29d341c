import assert from 'node:assert/strict'
import { beforeEach, describe } from 'vitest'
import type { JobIntake, JobStore } from '../../../../src/ports/jobs.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import { QUEUE } from '../../../../src/redis/base/layout/fields.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import {
  assertClean,
  claimed,
  ended,
  openExecutor,
  pushAll,
  pushOne,
} from '../../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../../support/engine/model-world.ts'
import { AN_ACTOR } from '../../../support/principals.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'

/** More than a step looks through from one end of a ready list. */
const SIDE = 1_050
const DELAY_SECONDS = 100
const JUMP_SECONDS = 600

describe('after a jump back of the clock', () => {
  let redis: TestRedis
  let world: World
  let intake: JobIntake
  let store: JobStore

  test.beforeAll(({ emptyRedis }) => {
    redis = emptyRedis
  })
  beforeEach(async () => {
    world = await openWorld(redis, { shards: 1 })
    intake = world.newIntake()
    store = createJobStore(world.engine)
    return () => world.close()
  })

  const cancelledReady = async () =>
    Number((await redis.client.hget(shardKeys(world.engine, 0).queue('1').meta, QUEUE.cancelledReady)) ?? 0)

  async function promoteAll(): Promise<void> {
    const upkeep = createShardMaintenance(world.engine, 0)
    for (let i = 0; i < 5; i += 1) await upkeep.promote()
  }

  async function runReady(name: string): Promise<number[]> {
    const source = await openExecutor(world, name)
    const ids: number[] = []
    for (;;) {
      const works = await claimed(source, 64)
      if (works.length === 0) return ids
      ids.push(...works.map(({ jobId }) => jobId))
      await source.finish(works.map((work) => ended(world, work)))
    }
  }

  /**
   * A job that became ready before the clock jumped back before its due time, with `side` ready jobs before and behind
   * it, and one that is due in the same minute and waits in its bucket: the records of both look alike.
   */
  async function jumped(side: number): Promise<{ ready: number; waiting: number; others: number[] }> {
    const others = await pushAll(intake, side)
    const ready = await pushOne(intake, { start: { delaySeconds: DELAY_SECONDS } })
    for (let i = 0; i < 2; i += 1) {
      world.clock.advance((DELAY_SECONDS * 1_000) / 2)
      await promoteAll()
    }
    others.push(...(await pushAll(intake, side)))
    world.clock.jump(-JUMP_SECONDS * 1_000)
    // By its answer the intake learns the time.
    others.push(await pushOne(intake))
    const waiting = await pushOne(intake, { start: { delaySeconds: JUMP_SECONDS } })
    await assertClean(world)
    return { ready, waiting, others }
  }

  async function waitLong(): Promise<void> {
    for (let i = 0; i < 2 * (JUMP_SECONDS / 60); i += 1) {
      world.clock.advance(60_000)
      await promoteAll()
    }
  }

  test('jobs of a short list are found where they are', async () => {
    const { ready, waiting, others } = await jumped(3)
    assert.equal((await store.fire('default', ready, AN_ACTOR)).status, 'fired')
    assert.equal((await store.fire('default', waiting, AN_ACTOR)).status, 'fired')
    await assertClean(world)
    assert.deepEqual(
      (await runReady('e1')).toSorted((a, b) => a - b),
      [...others, ready, waiting].toSorted((a, b) => a - b),
    )
    await waitLong()
    assert.deepEqual(await runReady('e2'), [])
    await assertClean(world)
  })

  test('a cancel does not search a long list, and the count is right again when it is empty', async () => {
    const { ready, waiting, others } = await jumped(SIDE)
    assert.equal((await store.remove('default', ready, AN_ACTOR, false)).status, 'removed')
    assert.equal(await cancelledReady(), 0)
    assert.equal((await store.remove('default', waiting, AN_ACTOR, false)).status, 'removed')
    assert.deepEqual(await runReady('e1'), others)
    assert.equal(await cancelledReady(), 0)
    await assertClean(world)
    await waitLong()
    assert.deepEqual(await runReady('e2'), [])
    await assertClean(world)
  })

  test('a list of nothing but cancelled jobs goes whole with the last one, wherever that stood', async () => {
    const { ready, waiting, others } = await jumped(0)
    const { ready: list, meta } = shardKeys(world.engine, 0).queue('1')
    const gone = Array.from({ length: 3 * SIDE }, (_, i) => 10_000_000 + i)
    await redis.client.lpush(list, ...gone)
    await redis.client.rpush(list, ...gone.map((id) => id + gone.length))
    await redis.client.hincrby(meta, QUEUE.cancelledReady, 2 * gone.length)
    for (const id of [...others, waiting]) await store.remove('default', id, AN_ACTOR, false)
    assert.ok((await redis.client.llen(list)) > 2 * SIDE)
    assert.equal((await store.remove('default', ready, AN_ACTOR, false)).status, 'removed')
    assert.equal(await redis.client.exists(list), 0)
    assert.equal(await cancelledReady(), 0)
    await assertClean(world)
  })

  test('nothing that is fired beside a long list runs twice', async () => {
    const { ready, waiting, others } = await jumped(SIDE)
    assert.equal((await store.fire('default', ready, AN_ACTOR)).status, 'due')
    assert.equal((await store.fire('default', waiting, AN_ACTOR)).status, 'due')
    await assertClean(world)
    assert.deepEqual(
      (await runReady('e1')).toSorted((a, b) => a - b),
      [...others, ready].toSorted((a, b) => a - b),
    )
    await waitLong()
    assert.deepEqual(await runReady('e2'), [waiting])
    await assertClean(world)
  })

  test('a job that is due later than any time so far is fired, however long the list is', async () => {
    await jumped(SIDE)
    const later = await pushOne(intake, { start: { delaySeconds: 2 * JUMP_SECONDS } })
    assert.equal((await store.fire('default', later, AN_ACTOR)).status, 'fired')
    await assertClean(world)
  })
})
