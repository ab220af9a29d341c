import { SetAside } from '../../../../src/domain/set-aside.ts'
import assert from 'node:assert/strict'
import { beforeEach, describe } from 'vitest'
import { StorageFullError } from '../../../../src/domain/errors.ts'
import type { ClaimedJob, ClaimedWork } from '../../../../src/ports/jobs.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import { DEFAULT_RETENTION } from '../../../../src/redis/base/engine/engine.ts'
import { callbackQueueOf } from '../../../../src/redis/base/layout/keys.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { evictCalls } from '../../../../src/redis/ledger/retention/call-records.ts'
import { purgeDeadLetters } from '../../../../src/redis/ledger/retention/dead-letters.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import { trimFinished } from '../../../../src/redis/jobs/history/finished-chains.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { newJob } from '../../../support/engine/engine.ts'
import {
  assertClean,
  callRecord,
  claimed,
  ended,
  pushAll,
  pushOne,
} from '../../../support/engine/model-executor.ts'
import { DAY_MS, QueueStage } from './queue-stage.ts'
import { AN_ACTOR } from '../../../support/principals.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'

describe('retention and the sweep', () => {
  let redis: TestRedis
  let stage: QueueStage

  test.beforeAll(({ emptyRedis }) => {
    redis = emptyRedis
  })
  beforeEach(async () => {
    stage = await QueueStage.open(redis)
    return () => stage.world.close()
  })

  test('a slot past its hard deadline is freed while its holder lives', async () => {
    await createQueueStore(stage.world.engine).apply('default', 'emails', {
      ...DEFAULT_QUEUE_SETTINGS,
      timeoutSeconds: 1,
      maxParallelism: 1,
    })
    await pushAll(stage.intake, 2)
    const source = await stage.beat()
    const [work] = await claimed(source, 1)
    for (let i = 0; i < 3; i += 1) {
      await stage.sweepAll()
      assert.equal(await stage.running(), 1)
      stage.world.clock.advance(9_000)
      await source.beat(false)
    }
    stage.world.clock.advance(4_000)
    await source.beat(false)
    await stage.sweepAll()
    await assertClean(stage.world)
    assert.equal(await stage.running(), 0)
    assert.deepEqual(await source.finish([ended(stage.world, work as ClaimedWork)]), ['stale'])
    const [again] = await claimed(source, 1)
    assert.equal(again?.jobId, work?.jobId)
  })

  test('a jump of the clock frees no slot before its longest call must be over', async () => {
    await createQueueStore(stage.world.engine).apply('default', 'emails', {
      ...DEFAULT_QUEUE_SETTINGS,
      timeoutSeconds: 1,
      maxParallelism: 1,
    })
    await pushAll(stage.intake, 2)
    const source = await stage.beat()
    await claimed(source, 1)
    stage.world.clock.advance(3_600_000)
    for (let elapsedMs = 0; elapsedMs < 330_000; elapsedMs += 9_000) {
      await source.beat(false)
      await stage.sweepAll()
      assert.equal(await stage.running(), 1, `freed ${elapsedMs} ms after the jump`)
      stage.world.clock.advance(9_000)
    }
    await source.beat(false)
    await stage.sweepAll()
    assert.equal(await stage.running(), 0)
    await assertClean(stage.world)
  })

  test('a slot is judged by the time of Redis, not by the estimate of who sweeps', async () => {
    await pushOne(stage.intake)
    const source = await stage.beat()
    const [work] = await claimed(source, 1)
    stage.world.engine.runner.noteRedisTime(0, stage.world.clock.wallMs + 3_600_000)
    await createShardMaintenance(stage.world.engine, 0).sweep()
    assert.deepEqual(await source.finish([ended(stage.world, work as ClaimedWork)]), ['done'])
    await assertClean(stage.world)
  })

  test('sweep mends the ring where lost writes left it wrong, for callbacks too', async () => {
    await pushOne(stage.intake, { request: { ...newJob().request, callbackUrl: 'http://target.test/' } })
    const source = await stage.beat()
    const [work] = await claimed(source, 1)
    await source.finish([ended(stage.world, work as ClaimedWork)])
    await pushOne(stage.intake)
    await redis.client.del(stage.shard.ring)
    await stage.sweepAll()
    assert.equal((await claimed(source, 64)).length, 2)
    await redis.client.zadd(stage.shard.ring, 1, callbackQueueOf('1'), 1, '1')
    await stage.sweepAll()
    await assertClean(stage.world)
  })

  test('a chain or a call that cannot be read keeps no others from going', async () => {
    const source = await stage.beat()
    const roots = await pushAll(stage.intake, 3)
    for (const work of await claimed(source, 64)) {
      assert.ok(work.kind === 'job')
      const call = callRecord(work, stage.world.clock.wallMs, 1)
      await source.finish([ended(stage.world, work, { failed: false, call })])
    }
    const { history: h, summaries: d, callRecords: c } = stage.shard.queue('1')
    const bad = String(roots[0])
    for (const key of [d, c]) await redis.client.hset(key, bad, '[')
    stage.world.clock.advance(31_000)
    const trimmed = () => trimFinished(stage.world.engine, stage.shard, '1')
    assert.equal(await trimmed(), 1)
    assert.equal(await trimmed(), 0)
    assert.deepEqual(await redis.client.lrange(h, 0, -1), roots.slice(1).reverse().map(String))
    stage.world.clock.advance(DEFAULT_RETENTION.callRecordsMs)
    await evictCalls(stage.world.engine, stage.shard, new SetAside('upkeep', stage.world.engine))
    assert.equal(await redis.client.exists(c), 0)
  })

  test('call records of a list that has changed since it was read are left to the next sweep', async () => {
    const source = await stage.beat()
    const finishOne = async () => {
      const id = await pushOne(stage.intake)
      const works = (await claimed(source, 1)) as ClaimedJob[]
      const ends = works.map((work) =>
        ended(stage.world, work, { failed: false, call: callRecord(work, stage.world.clock.wallMs, 1) }),
      )
      await source.finish(ends)
      return id
    }
    await finishOne()
    const middle = await finishOne()
    await finishOne()
    stage.world.clock.advance(DEFAULT_RETENTION.callRecordsMs)
    await stage.beat()
    const kept = await finishOne()
    let evictions = 0
    stage.world.faults.before = async ({ name }) => {
      if (name === 'evict_calls') evictions += 1
      if (name !== 'evict_calls' || evictions !== 2) return
      const jobs = createJobStore(stage.world.engine)
      assert.equal((await jobs.remove('default', middle, AN_ACTOR, true)).status, 'removed')
    }
    await createShardMaintenance(stage.world.engine, 0).sweep()
    assert.equal(evictions, 2)
    await assertClean(stage.world)
    await stage.sweepAll()
    const { callRecords, successfulCalls } = stage.shard.queue('1')
    assert.deepEqual(await redis.client.hkeys(callRecords), [String(kept)])
    assert.deepEqual(await redis.client.lrange(successfulCalls, 0, -1), [String(kept)])
    await assertClean(stage.world)
  })

  test('a dead letter stays until its retention is over, and goes then', async () => {
    const roots = await stage.makeDeadLetters(1)
    const [, purgeAt] = await redis.client.zrange(stage.shard.queue('1').deadLetters, '0', '0', 'WITHSCORES')
    const purgeDue = () =>
      purgeDeadLetters(stage.world.engine, stage.shard, {
        localId: '1',
        roots: roots.map(String),
        onlyDue: true,
      })
    stage.world.clock.advance(Number(purgeAt) - 1 - stage.world.clock.wallMs)
    assert.equal(await purgeDue(), 0)
    stage.world.clock.advance(1)
    assert.equal(await purgeDue(), 1)
    await assertClean(stage.world)
  })

  test('a queue is looked at again when the first of its chains or dead letters is due', async () => {
    await stage.makeDeadLetters(1)
    await stage.makeFinished(1)
    const { retentionDue } = stage.shard
    const due = async () => Number(await redis.client.zscore(retentionDue, '1'))
    const before = await due()
    await redis.client.zadd(retentionDue, 1, '1')
    await stage.sweepAll()
    assert.equal(await due(), before)
    await assertClean(stage.world)
  })

  test('old call records are evicted, and the oldest ones when the budget is nearly used up', async () => {
    stage.world.close()
    stage = await QueueStage.open(redis, { callRecordsBytesMax: 10_000 })
    const source = await stage.beat()
    const finishOne = async (queue: string) => {
      await pushOne(stage.intake, { queue })
      const [work] = await claimed(source, 1)
      assert.ok(work?.kind === 'job')
      await source.finish([
        ended(stage.world, work, { failed: false, call: callRecord(work, stage.world.clock.wallMs, 1000) }),
      ])
    }
    await finishOne('old')
    stage.world.clock.advance(5_000)
    for (let i = 0; i < 3; i += 1) await finishOne('new')
    await stage.sweepAll()
    const ids = await redis.client.hgetall(stage.shard.queueIds)
    const kept = (queue: string) =>
      redis.client.hlen(stage.shard.queue(ids[`default/${queue}`] ?? '').callRecords)
    assert.deepEqual([await kept('old'), await kept('new')], [0, 3])
    await assertClean(stage.world)
    stage.world.clock.advance(4 * DAY_MS)
    await stage.beat()
    await stage.sweepAll()
    assert.deepEqual([await kept('old'), await kept('new')], [0, 0])
    assert.equal(await redis.client.exists(stage.shard.oldestCalls), 0)
    await assertClean(stage.world)
  })

  /** Finished chains, a deleted queue's jobs, and a Redis without room for more. */
  async function fill(): Promise<void> {
    const source = await stage.beat()
    for (let i = 0; i < 20; i += 1) {
      await pushAll(stage.intake, 100, { queue: 'old' })
      for (let works = await claimed(source, 64); works.length > 0; works = await claimed(source, 64)) {
        await source.finish(works.map((work) => ended(stage.world, work)))
      }
    }
    await pushAll(stage.intake, 100, { start: { delaySeconds: 30 * DAY_MS } })
    assert.equal(await createQueueStore(stage.world.engine).remove('default', 'emails'), 'removed')
    const used = Number(/used_memory:(\d+)/.exec(await redis.client.info('memory'))?.[1])
    await redis.client.config('SET', 'maxmemory', String(used - 10_000))
    await assert.rejects(pushOne(stage.intake, { queue: 'new' }), StorageFullError)
  }

  const makeRoom = () => redis.client.config('SET', 'maxmemory', '0')

  test('a full Redis has room again once what it holds is past its time', async () => {
    try {
      await fill()
      stage.world.clock.advance(9 * DAY_MS)
      await stage.beat()
      await stage.sweepAll()
      const { retentionDue: gc, queueIds: names } = stage.shard
      const [old = ''] = await redis.client.hvals(names)
      assert.equal(
        await redis.client.exists(gc, stage.shard.queue(old).history, stage.shard.queue(old).summaries),
        0,
      )
      assert.deepEqual(await redis.client.keys('*trash*'), [])
      await pushOne(stage.intake, { queue: 'new' })
      await assertClean(stage.world)
    } finally {
      await makeRoom()
    }
  })

  test('a part of a sweep that fails stops none of the others', async () => {
    try {
      await fill()
      await makeRoom()
      stage.world.clock.advance(9 * DAY_MS)
      await stage.beat()
      const [old = ''] = await redis.client.hvals(stage.shard.queueIds)
      // The first part has to write, and is refused; of the queues, the first to be looked at cannot be read.
      await redis.client.del(stage.shard.created)
      await redis.client.zadd(stage.shard.retentionDue, 1, '99')
      await redis.client.set(stage.shard.queue('99').deadLetters, 'no sorted set')
      await redis.client.config('SET', 'maxmemory', '1mb')
      const upkeep = createShardMaintenance(stage.world.engine, 0)
      await assert.rejects(upkeep.sweep(), StorageFullError)
      assert.deepEqual(await redis.client.keys('*trash*'), [])
      assert.ok((await redis.client.llen(stage.shard.queue(old).history)) < 2_000)
      await makeRoom()
      await upkeep.sweep()
      assert.equal(await redis.client.get(stage.shard.created), '1')
    } finally {
      await makeRoom()
    }
  })

  test('a shard that lost its data gets its mark again, in an emptied Redis nothing is written', async () => {
    const { created: mark } = stage.shard
    const upkeep = createShardMaintenance(stage.world.engine, 0)
    await redis.client.del(mark)
    await upkeep.sweep()
    assert.equal(await redis.client.get(mark), '1')
    await redis.client.flushall()
    await upkeep.sweep()
    assert.deepEqual(await redis.client.keys('*'), [])
  })

  test('an executor whose jobs cannot be read keeps no other from being reaped', async () => {
    await pushAll(stage.intake, 2)
    await claimed(await stage.beat('e1'), 1)
    await claimed(await stage.beat('e2'), 1)
    const upkeep = createShardMaintenance(stage.world.engine, 0)
    for (let i = 0; i < 2; i += 1) {
      stage.world.clock.advance(9_000)
      await upkeep.promote()
    }
    await redis.client.set(stage.shard.heldJobs('e1'), 'no hash')
    assert.deepEqual(await upkeep.reap(), { executors: 2, jobs: 1 })
    assert.equal(await redis.client.zscore(stage.shard.executors, 'e2'), null)
    assert.equal(await stage.running(), 1)
  })
})
