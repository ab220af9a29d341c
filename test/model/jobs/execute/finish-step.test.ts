import { LOST_LEASES_MAX } from '../../../../src/domain/limits.ts'
import assert from 'node:assert/strict'
import { beforeEach, describe } from 'vitest'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import { StoreUnavailableError } from '../../../../src/domain/errors.ts'
import type { ClaimedWork, JobSource, JobIntake } from '../../../../src/ports/jobs.ts'
import { REAP } from '../../../../src/redis/jobs/execute/finish/batch.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { trimFinished } from '../../../../src/redis/jobs/history/finished-chains.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import {
  assertClean,
  callRecord,
  claimed,
  ended,
  openExecutor,
  pushAll,
  pushOne,
} from '../../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import type { SentStep } from '../../../support/lua/wrapped-scripts.ts'

describe('finish and reap', () => {
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

  const queueKeys = () => shardKeys(world.engine, 0).queue('1')

  /** All leases run out and are reaped, without a jump of the clock. */
  async function loseExecutors(): Promise<{ jobs: number; executors: number }> {
    const upkeep = createShardMaintenance(world.engine, 0)
    for (let i = 0; i < 2; i += 1) {
      world.clock.advance(9_000)
      await upkeep.promote()
    }
    return upkeep.reap()
  }

  test('answers a repeat as the first time, after the answer was lost', async () => {
    await pushAll(intake, 2)
    const source = await openExecutor(world, 'e1')
    const works = await claimed(source, 2)
    const stale = { ...(works[0] as ClaimedWork), token: '0' }
    const ends = [ended(world, stale), ...works.map((work) => ended(world, work))]
    world.faults.lost.add('finish')
    await assert.rejects(source.finish(ends), StoreUnavailableError)
    assert.deepEqual(await source.finish(ends), ['stale', 'done', 'done'])
    assert.equal(await redis.client.llen(queueKeys().history), 2)
    await assertClean(world)
  })

  test('changes nothing for a job that is held by another token', async () => {
    await pushOne(intake)
    const source = await openExecutor(world, 'e1')
    const [first] = await claimed(source, 1)
    await source.finish([{ type: 'released', work: first as ClaimedWork }])
    const [second] = await claimed(source, 1)
    assert.deepEqual(await source.finish([ended(world, first as ClaimedWork, { failed: true })]), ['stale'])
    await assertClean(world)
    assert.deepEqual(await source.finish([ended(world, second as ClaimedWork)]), ['done'])
  })

  test('ends a job although its earlier hold is reported stale in the same batch', async () => {
    await pushOne(intake)
    const source = await openExecutor(world, 'e1')
    const [first] = await claimed(source, 1)
    await source.finish([{ type: 'released', work: first as ClaimedWork }])
    const [second] = await claimed(source, 1)
    const ends = [first, second, second].map((work) => ended(world, work as ClaimedWork))
    assert.deepEqual(await source.finish(ends), ['stale', 'done', 'stale'])
    await assertClean(world)
  })

  test('ends jobs of two claims and two queues in their order, and those that are not held change nothing', async () => {
    const source = await openExecutor(world, 'e1')
    await pushAll(intake, 5)
    const first = await claimed(source, 3)
    const second = await claimed(source, 2)
    await pushOne(intake, { queue: 'other' })
    const [other] = await claimed(source, 1)
    // One is given back and claimed by somebody else before the ends are sent.
    await source.finish([{ type: 'released', work: first[1] as ClaimedWork }])
    const elsewhere = await openExecutor(world, 'e2')
    const [taken] = await claimed(elsewhere, 1)
    const works = [...first, other as ClaimedWork, ...second]
    const failing = second[0] as ClaimedWork
    const ends = works.map((work) => ended(world, work, { failed: work === failing }))
    assert.deepEqual(await source.finish(ends), ['done', 'stale', 'done', 'done', 'done', 'done'])
    await assertClean(world)
    assert.deepEqual(await elsewhere.finish([ended(world, taken as ClaimedWork)]), ['done'])
    await assertClean(world)
    const history = await redis.client.lrange(queueKeys().history, 0, -1)
    const newestFirst = [taken, second[1], first[2], first[0]].map((work) => String(work?.jobId))
    assert.deepEqual(history, newestFirst)
  })

  test('wakes a queue at its limit at once', async () => {
    await createQueueStore(world.engine).apply('default', 'emails', {
      ...DEFAULT_QUEUE_SETTINGS,
      maxParallelism: 1,
    })
    await pushAll(intake, 2)
    const source = await openExecutor(world, 'e1')
    const [work] = await claimed(source, 2)
    assert.equal(await redis.client.zcard(shardKeys(world.engine, 0).ring), 0)
    await source.finish([ended(world, work as ClaimedWork)])
    assert.equal(await redis.client.zcard(shardKeys(world.engine, 0).ring), 1)
  })

  test('creates nothing for a deleted queue, and frees its holder', async () => {
    await pushAll(intake, 2, { request: { callbackUrl: 'http://target.test/' } })
    const source = await openExecutor(world, 'e1')
    const works = await claimed(source, 2)
    await createQueueStore(world.engine).remove('default', 'emails')
    await pushOne(intake)
    const ends = [
      ended(world, works[0] as ClaimedWork, { failed: true }),
      { type: 'released', work: works[1] as ClaimedWork } as const,
    ]
    assert.deepEqual(await source.finish(ends), ['done', 'done'])
    assert.equal((await source.beat(false)).status, 'ok')
    await assertClean(world)
    assert.equal((await claimed(source, 64)).length, 1)
  })

  test('puts a retry into near when its minute is not declared', async () => {
    await pushOne(intake, {})
    const source = await openExecutor(world, 'e1')
    const [work] = await claimed(source, 1)
    // The program's estimate is an hour off, so it declares the wrong minute.
    const right = world.engine.runner.redisNowMs(0)
    const end = ended(world, work as ClaimedWork, { failed: true })
    assert.ok(end.type === 'ended' && end.end.kind === 'retry')
    const later = { ...end, end: { ...end.end, retryDelaySeconds: 1800 } }
    world.engine.runner.noteRedisTime(0, right - 3_600_000)
    assert.deepEqual(await source.finish([later]), ['done'])
    assert.equal(await redis.client.zcard(shardKeys(world.engine, 0).nearSet), 1)
    await assertClean(world)
  })

  test('counts lost leases, and the last one fails the attempt as executor_lost', async () => {
    const id = await pushOne(intake, {})
    for (let loss = 1; loss <= LOST_LEASES_MAX; loss += 1) {
      const source = await openExecutor(world, `e${loss}`)
      assert.equal((await claimed(source, 1)).length, 1, `loss ${loss}`)
      assert.deepEqual(await loseExecutors(), { jobs: 1, executors: 1 })
      await assertClean(world)
    }
    const chain = await createJobStore(world.engine).get('default', id)
    assert.equal(chain?.attempts[0]?.failureReason, 'executor_lost')
    assert.equal(chain?.open?.attempt, 2)
    assert.equal(chain?.open?.status, 'pending')
  })

  test('does not count a job given back by an executor that leaves', async () => {
    await pushOne(intake)
    for (let i = 0; i < 5; i += 1) {
      const source = await openExecutor(world, `e${i}`)
      assert.equal((await claimed(source, 1)).length, 1)
      await source.leave()
    }
    const [body] = await redis.client.hvals(queueKeys().records)
    assert.equal(body?.[14], '0')
    await assertClean(world)
  })

  test('reaps all of many jobs in pages, and puts them among the suspects', async () => {
    await pushAll(intake, 500)
    const source = await openExecutor(world, 'e1')
    const taken: number[] = []
    for (let i = 0; i < 7; i += 1) taken.push(...(await claimed(source, 64)).map((work) => work.jobId))
    const last = await pushOne(intake)
    let pages = 0
    world.faults.after = (step: SentStep) => (pages += step.name === 'reap' ? 1 : 0)
    assert.deepEqual(await loseExecutors(), { jobs: 448, executors: 1 })
    assert.equal(pages, 3)
    await assertClean(world)
    const suspects = await redis.client.zrange(shardKeys(world.engine, 0).suspects, '0', '-1')
    assert.deepEqual(new Set(suspects), new Set(taken.map((id) => `1|${id}`)))
    const order = await redis.client.lrange(queueKeys().ready, 0, -1)
    assert.equal(order.length, 53)
    assert.equal(order.at(-1), String(last))
    assert.equal(await redis.client.exists(shardKeys(world.engine, 0).heldJobs('e1')), 0)
  })

  test('leaves an executor alone that beats while it is being reaped', async () => {
    await pushOne(intake)
    const source = await openExecutor(world, 'e1')
    const [work] = await claimed(source, 1)
    for (let i = 0; i < 2; i += 1) {
      world.clock.advance(9_000)
      await createShardMaintenance(world.engine, 0).promote()
    }
    world.faults.before = async (step) => {
      if (step.name === 'reap') await redis.client.zadd(shardKeys(world.engine, 0).executors, 9e15, 'e1')
    }
    assert.equal((await createShardMaintenance(world.engine, 0).reap()).jobs, 0)
    assert.deepEqual(await source.finish([ended(world, work as ClaimedWork)]), ['done'])
  })

  test('takes a job given back twice in one step once', async () => {
    await pushOne(intake)
    const source = await openExecutor(world, 'e1')
    await claimed(source, 1)
    let sent: SentStep | undefined
    world.faults.before = (step) => {
      sent = step
    }
    world.faults.torn.set('reap', 1)
    await assert.rejects(source.releaseUnknown(new Set()))
    assert.ok(sent)
    // Its three words are the last ones, behind its stretch, no team and no alert.
    const job = sent.args.slice(-3)
    const args = [...sent.args, ...job]
    args[REAP.shape.args.indexOf('places')] = '1 2 ;'
    args[sent.args.length - 6] = 2
    await world.engine.runner.run({ name: 'reap', keys: sent.keys, args })
    assert.equal(await redis.client.llen(queueKeys().ready), 1)
    await assertClean(world)
  })

  test('drops call records when the budget is full, and says so', async () => {
    world = await openWorld(redis, { shards: 1, retention: { callRecordsBytesMax: 3000 } })
    await pushAll(world.newIntake(), 3)
    const source = await openExecutor(world, 'e1')
    const works = await claimed(source, 3)
    const ends = works.map((work) => {
      assert.equal(work.kind, 'job')
      return ended(world, work, {
        failed: false,
        ...(work.kind === 'job' ? { call: callRecord(work, 1, 500) } : {}),
      })
    })
    let dropped: unknown
    world.faults.after = (step) => (dropped = step.name === 'finish' ? (step.reply as unknown[])[2] : dropped)
    await source.finish(ends)
    assert.equal(dropped, 1)
    assert.equal(await redis.client.hlen(queueKeys().callRecords), 2)
    await assertClean(world)
    world.close()
  })

  describe('trim', () => {
    async function finishMany(source: JobSource, count: number): Promise<void> {
      await pushAll(intake, count)
      for (let left = count; left > 0;) {
        const works = await claimed(source, 64)
        await source.finish(works.map((work) => ended(world, work)))
        left -= works.length
      }
    }

    test('does nothing when the tail is no longer what was looked at', async () => {
      const source = await openExecutor(world, 'e1')
      await finishMany(source, 10)
      world.clock.advance(8 * 86_400_000)
      await source.beat(true)
      await finishMany(source, 20)
      let sent: SentStep | undefined
      world.faults.after = (step) => (sent = step.name === 'trim' ? step : sent)
      assert.equal(await trimFinished(world.engine, shardKeys(world.engine, 0), '1'), 10)
      assert.ok(sent)
      assert.equal(await world.engine.runner.run({ name: 'trim', keys: sent.keys, args: sent.args }), 0)
      assert.equal(await redis.client.llen(queueKeys().history), 20)
      await assertClean(world)
    })
  })
})
