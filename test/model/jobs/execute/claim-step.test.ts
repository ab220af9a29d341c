import assert from 'node:assert/strict'
import { beforeEach, describe } from 'vitest'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import { StoreUnavailableError } from '../../../../src/domain/errors.ts'
import type { JobIntake } from '../../../../src/ports/jobs.ts'
import { parseCandidates } from '../../../../src/redis/jobs/execute/claim/ready-claims.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { assertClean, claimed, ended, openExecutor, pushAll } from '../../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { grantOf } from '../../../support/engine/claim-grant.ts'

describe('claim', () => {
  let redis: TestRedis
  let world: World
  let intake: JobIntake

  test.beforeAll(({ emptyRedis }) => {
    redis = emptyRedis
  })
  beforeEach(async () => {
    world = await openWorld(redis, { shards: 1 })
    intake = world.newIntake()
    return () => world.close()
  })

  const setMax = (queue: string, maxParallelism: number | null) =>
    createQueueStore(world.engine).apply('default', queue, { ...DEFAULT_QUEUE_SETTINGS, maxParallelism })

  test('fills a batch of 64 from one hot queue, though a round takes 8', async () => {
    await pushAll(intake, 100)
    const source = await openExecutor(world, 'e1')
    assert.equal((await claimed(source, 64)).length, 64)
    assert.equal((await claimed(source, 64)).length, 36)
    await assertClean(world)
  })

  test('leaves a queue in line that has free slots and jobs left', async () => {
    await setMax('emails', 5)
    await pushAll(intake, 6)
    const source = await openExecutor(world, 'e1')
    assert.equal((await claimed(source, 2)).length, 2)
    await assertClean(world)
    assert.equal((await claimed(source, 64)).length, 3)
    await assertClean(world)
  })

  test('serves queues in rounds of 8, so that no queue fills a batch others wait for', async () => {
    for (const queue of ['a', 'b', 'c', 'd']) await pushAll(intake, 40, { queue })
    const source = await openExecutor(world, 'e1')
    const works = await claimed(source, 32)
    const counts = Map.groupBy(works, (work) => work.location.queue)
    assert.deepEqual(
      [...counts.values()].map((of) => of.length),
      [8, 8, 8, 8],
    )
  })

  test('does not starve a queue for two that come back at limit 1', async () => {
    const queues = ['one', 'two', 'three']
    for (const queue of queues) {
      await setMax(queue, 1)
      await pushAll(intake, 30, { queue })
    }
    const source = await openExecutor(world, 'e1')
    const served: string[] = []
    for (let i = 0; i < 30; i += 1) {
      const [work] = await claimed(source, 1)
      assert.ok(work)
      served.push(work.kind === 'job' ? work.queueName : '')
      await source.finish([ended(world, work)])
    }
    for (const queue of queues) {
      const share = served.filter((name) => name === queue).length
      assert.ok(share >= 5, `${queue} was served ${share} of 30 times: ${served.join(' ')}`)
    }
  })

  test('stops at the bytes granted', async () => {
    const big = JSON.stringify('x'.repeat(600_000))
    await pushAll(intake, 3, { request: { payload: big } })
    const source = await openExecutor(world, 'e1')
    assert.equal((await claimed(source, 64)).length, 1)
    const [work] = await claimed(source, 64)
    assert.equal(work?.kind === 'job' && work.request.payload, big)
    await assertClean(world)
  })

  test('gives the same batch again when its answer was lost', async () => {
    const ids = await pushAll(intake, 10)
    const source = await openExecutor(world, 'e1')
    // The first one only learns whom to ask.
    for (const already of [0, 4]) {
      world.faults.lost.add('claim')
      await assert.rejects(source.claim(grantOf(4)), StoreUnavailableError)
      const works = await claimed(source, 4)
      assert.deepEqual(
        works.map((work) => work.jobId),
        ids.slice(already, already + 4),
      )
      assert.equal(await redis.client.zcard(shardKeys(world.engine, 0).queue('1').inFlight), already + 4)
    }
    await assertClean(world)
  })

  test('gives nothing under a request whose jobs were taken back', async () => {
    await pushAll(intake, 5)
    const source = await openExecutor(world, 'e1')
    const [known] = await claimed(source, 1)
    assert.ok(known)
    world.faults.lost.add('claim')
    await assert.rejects(source.claim(grantOf(4)), StoreUnavailableError)
    const other = await openExecutor(world, 'e2')
    await source.releaseUnknown(new Set([known.jobId]))
    assert.equal((await claimed(other, 4)).length, 0, 'a claim on its way keeps its jobs')
    await redis.client.del(shardKeys(world.engine, 0).executors)
    assert.deepEqual(await source.claim(grantOf(4)), { status: 'lease_lost' })
  })

  test('never exceeds the limit in force, also when it is lowered under way', async () => {
    await setMax('emails', 3)
    await pushAll(intake, 10)
    const source = await openExecutor(world, 'e1')
    const works = await claimed(source, 64)
    assert.equal(works.length, 3)
    await setMax('emails', 1)
    await source.finish(works.slice(0, 2).map((work) => ended(world, work)))
    assert.equal((await claimed(source, 64)).length, 0)
    await source.finish(works.slice(2).map((work) => ended(world, work)))
    assert.equal((await claimed(source, 64)).length, 1)
    await assertClean(world)
  })

  test('goes on from the token an executor knows when Redis lost its own', async () => {
    await pushAll(intake, 2)
    const source = await openExecutor(world, 'e1')
    const [first] = await claimed(source, 1)
    await redis.client.set(shardKeys(world.engine, 0).fencingToken, '0')
    const [second] = await claimed(source, 1)
    assert.ok(Number(second?.token) > Number(first?.token))
  })

  test('names candidates from the head and, at an offset that moves, from all over the ring', async () => {
    for (let i = 0; i < 200; i += 1) await pushAll(intake, 2, { queue: `q${i}` })
    const source = await openExecutor(world, 'e1')
    const named = new Set<string>()
    for (let i = 0; i < 12; i += 1) {
      await claimed(source, 1)
      const reply = world.sent.get('claim')?.reply as ReadonlyArray<string[]> | undefined
      const candidates = parseCandidates(reply?.[5] ?? []).queues
      const head = await redis.client.zrange(shardKeys(world.engine, 0).ring, '0', '15')
      assert.deepEqual(candidates.slice(0, 16), head)
      for (const id of candidates) named.add(id)
    }
    assert.equal(named.size, 200)
  })
})
