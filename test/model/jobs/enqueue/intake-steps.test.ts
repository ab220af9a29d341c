import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { beforeEach, describe, vi } from 'vitest'
import { StorageFullError, StoreUnavailableError } from '../../../../src/domain/errors.ts'
import { ID_BLOCK } from '../../../../src/domain/limits.ts'
import type { JobIntake, NewJob, PushResult } from '../../../../src/ports/jobs.ts'
import { BEAT } from '../../../../src/redis/jobs/execute/job-source.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { newJob } from '../../../support/engine/engine.ts'
import {
  assertClean,
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

const DAY_MS = 86_400_000
const NOON_MS = Date.UTC(2032, 4, 10, 12)

describe('enqueue, minutes and time', () => {
  let redis: TestRedis
  let world: World
  let intake: JobIntake

  test.beforeAll(({ emptyRedis }) => {
    redis = emptyRedis
  })
  beforeEach(async () => {
    world = await openWorld(redis, { shards: 1, startMs: NOON_MS })
    intake = world.newIntake()
    return () => world.close()
  })

  const shard = () => shardKeys(world.engine, 0)
  const keyed = (key: string, fingerprint: string): NewJob => newJob({ idempotency: { key, fingerprint } })
  const statusOf = async (push: Promise<PushResult>) => (await push).status
  const beat = () =>
    world.engine.runner.run(
      BEAT.with({
        keys: shard(),
        heldJobs: shard().heldJobs('e9'),
        leaseMs: 15_000,
        executor: 'e9',
        register: 1,
      }),
    )

  test('is done once when it is sent twice', async () => {
    world.faults.resent.add('enqueue')
    const ids = await pushAll(intake, 3, { start: { delaySeconds: 500 } })
    assert.equal(new Set(ids).size, 3)
    assert.equal(await redis.client.hlen(shard().queue('1').records), 3)
    assert.equal(await redis.client.llen(shard().minuteBucket(NOON_MS / 60_000 + 8)), 3)
    await assertClean(world)
  })

  // The answer of the first sending is lost, and the job ends before the second.
  test.each([
    ['has succeeded', { failed: false, retriesEnabled: false }],
    ['has failed', { failed: true, retriesEnabled: false }],
    ['waits for its retry', { failed: true, retriesEnabled: true }],
  ])('answers a push that is sent again when its job was due, also when that %s', async (_, how) => {
    const executor = await openExecutor(world, 'e1')
    const request = { retriesEnabled: how.retriesEnabled }
    let sent = 0
    world.faults.resent.add('enqueue')
    world.faults.before = async ({ name }) => {
      if (name !== 'enqueue') return
      sent += 1
      if (sent === 1) return world.clock.advance(20)
      world.clock.advance(150)
      for (const work of await claimed(executor, 10))
        await executor.finish([ended(world, work, { failed: how.failed })])
    }
    const [plain, keyedOne] = await Promise.all([
      intake.push(newJob({ request })),
      intake.push(newJob({ request, start: { runAtMs: 0 }, idempotency: { key: 'k', fingerprint: 'f' } })),
    ])
    assert.equal(sent, 2)
    for (const answer of [plain, keyedOne]) {
      assert.ok(answer.status === 'created')
      assert.equal(answer.scheduledAtMs, NOON_MS + 20)
    }
    await assertClean(world)
  })

  test('tells no later time than the due one of an ended job that cannot be read', async () => {
    const executor = await openExecutor(world, 'e1')
    let sent = 0
    world.faults.resent.add('enqueue')
    world.faults.before = async ({ name }) => {
      if (name !== 'enqueue') return
      sent += 1
      if (sent === 1) return
      world.clock.advance(1_150)
      for (const work of await claimed(executor, 10)) await executor.finish([ended(world, work)])
      vi.spyOn(world.engine.runner, 'read').mockRejectedValue(new StoreUnavailableError('cut off'))
    }
    const answers = await Promise.all([
      intake.push(newJob()),
      intake.push(newJob({ start: { delaySeconds: 1 } })),
      intake.push(newJob({ start: { runAtMs: 0 } })),
    ])
    const toldMs = answers.map((answer) => ('scheduledAtMs' in answer ? answer.scheduledAtMs : null))
    assert.deepEqual(toldMs, [NOON_MS, NOON_MS + 1_000, NOON_MS])
  })

  test('takes a job of before 1970 among others, due at once', async () => {
    const starts = [{ runAtMs: -86_400_000 }, { delaySeconds: 0 }, { runAtMs: 0 }]
    const answers = await Promise.all(starts.map((start) => intake.push(newJob({ start }))))
    for (const answer of answers) assert.ok('scheduledAtMs' in answer && answer.scheduledAtMs === NOON_MS)
    assert.equal(await redis.client.llen(shard().queue('1').ready), 3)
    await assertClean(world)
  })

  test('takes a new block of ids when its block belongs to another process', async () => {
    await pushOne(intake)
    await redis.client.hset(shard().jobIndex(0), 'o', 'another')
    const blockOf = (id: number) => Math.floor(world.engine.jobIds.seqOf(id) / ID_BLOCK)
    const block = blockOf(await pushOne(intake))
    assert.equal(block, 4, 'the blocks reserved with it are not used either')
    await redis.client.hset(shard().jobIndex(block), 'o', 'another')
    await redis.client.set(shard().jobBlock, '0')
    const later = blockOf(await pushOne(intake))
    assert.equal(later, 8, 'a counter that lost writes goes on behind known blocks')
  })

  test('raises the counter to a block that Redis no longer knows as reserved', async () => {
    await pushOne(intake)
    await redis.client.del(shard().jobBlock)
    await pushAll(intake, ID_BLOCK)
    assert.equal(await redis.client.get(shard().jobBlock), '1')
    await assertClean(world)
    await pushAll(world.newIntake(), 1)
    assert.equal(await redis.client.exists(shard().jobIndex(2)), 1, 'another process goes on behind it')
  })

  test('resolves a queue anew that was deleted and made again', async () => {
    await pushOne(intake)
    await createQueueStore(world.engine).remove('default', 'emails')
    const other = world.newIntake()
    await pushOne(other)
    await pushOne(intake)
    assert.equal(await redis.client.hlen(shard().queue('2').records), 2)
    await assertClean(world)
  })

  // A key of the first moment of a day is kept longest, one of the last moment least.
  test.each([
    ['the first moment', 1, 2 * DAY_MS - 2],
    ['the last moment', DAY_MS - 1, DAY_MS],
  ])('keeps an idempotency key of %s of a day until the next day ends', async (_, atMs, keptMs) => {
    const nextDayMs = Math.ceil(world.clock.wallMs / DAY_MS) * DAY_MS
    world.clock.jump(nextDayMs + atMs - world.clock.wallMs)
    await beat()
    assert.equal(await statusOf(intake.push(keyed('k', 'f'))), 'created')
    world.clock.advance(keptMs)
    assert.equal(await statusOf(intake.push(keyed('k', 'f'))), 'repeated')
    world.clock.advance(1)
    assert.equal(await statusOf(intake.push(keyed('k', 'f'))), 'created')
    await assertClean(world)
  })

  test('keeps an idempotency key over midnight, and for no third day', async () => {
    world.clock.jump(DAY_MS / 2 - 60_000)
    await beat()
    assert.equal(await statusOf(intake.push(keyed('k', 'f'))), 'created')
    for (let i = 0; i < 3; i += 1) {
      world.clock.advance(30_000)
      assert.equal(await statusOf(intake.push(keyed('k', 'f'))), 'repeated')
      assert.equal(await statusOf(intake.push(keyed('k', 'g'))), 'idempotency_conflict')
    }
    world.clock.advance(2 * DAY_MS)
    assert.equal(await statusOf(intake.push(keyed('k', 'g'))), 'created')
    await assertClean(world)
  })

  test.each([
    ['behind', -2],
    ['behind by days', -4 * DAY_MS],
    ['ahead', 20_000],
    ['ahead by days', 4 * DAY_MS],
  ])('finds the keys of yesterday and today while its estimate of Redis time is %s', async (_, offByMs) => {
    world.clock.jump(DAY_MS / 2 - 20_000)
    await beat()
    assert.equal(await statusOf(intake.push(keyed('yesterday', 'f'))), 'created')
    world.clock.advance(20_001)
    const clockMs = world.clock.wallMs
    world.engine.runner.noteRedisTime(0, clockMs + offByMs)
    assert.equal(await statusOf(intake.push(keyed('today', 'f'))), 'created')
    world.engine.runner.noteRedisTime(0, clockMs + offByMs)
    assert.equal(await statusOf(intake.push(keyed('yesterday', 'f'))), 'repeated')
    world.engine.runner.noteRedisTime(0, clockMs + offByMs)
    assert.equal(await statusOf(intake.push(keyed('today', 'f'))), 'repeated')
    await assertClean(world)
  })

  test('finds yesterday’s key although its estimate has passed midnight and Redis has not', async () => {
    world.clock.jump(-DAY_MS / 2 - 60_000)
    assert.equal(await statusOf(intake.push(keyed('k', 'f'))), 'created')
    world.clock.advance(DAY_MS)
    await beat()
    world.engine.runner.noteRedisTime(0, world.clock.wallMs + 61_000)
    assert.equal(await statusOf(intake.push(keyed('k', 'f'))), 'repeated')
  })

  test('puts a later job into near when its minute is not declared', async () => {
    await pushOne(intake)
    world.engine.runner.noteRedisTime(0, world.clock.wallMs - 3_600_000)
    await pushOne(intake, { start: { delaySeconds: 600 } })
    assert.equal(await redis.client.zcard(shard().nearSet), 1)
    assert.equal(await redis.client.exists(shard().minutes), 0)
    await assertClean(world)
  })

  test('pours a minute before it begins and starts nothing early', async () => {
    await pushAll(intake, 700, { start: { delaySeconds: 610 } })
    const upkeep = createShardMaintenance(world.engine, 0)
    assert.equal((await upkeep.promote()).nextDueMs, NOON_MS + 9 * 60_000)
    world.clock.advance(540_000)
    await beat()
    assert.equal((await upkeep.promote()).nextDueMs, NOON_MS + 610_000)
    assert.equal(await redis.client.exists(shard().minutes), 0)
    world.clock.advance(69_999)
    await beat()
    assert.equal((await upkeep.promote()).promoted, 0)
    world.clock.advance(1)
    await beat()
    assert.equal((await upkeep.promote()).promoted, 500)
    assert.equal((await upkeep.promote()).promoted, 200)
    await assertClean(world)
  })

  test('moves what is due although there is much to pour', async () => {
    await pushAll(intake, 4_100, { start: { delaySeconds: 610 } })
    world.clock.advance(540_000)
    await pushOne(intake, { start: { delaySeconds: 1 } })
    world.clock.advance(1_000)
    await beat()
    const upkeep = createShardMaintenance(world.engine, 0)
    assert.deepEqual(await upkeep.promote(), { promoted: 1, nextDueMs: NOON_MS + 9 * 60_000 })
    assert.equal(await redis.client.llen(shard().minuteBucket(NOON_MS / 60_000 + 10)), 100)
    assert.deepEqual(await upkeep.promote(), { promoted: 0, nextDueMs: NOON_MS + 610_000 })
    await assertClean(world)
  })

  test('moves a due job once, though two promoters saw it', async () => {
    await pushAll(intake, 3, { start: { delaySeconds: 5 } })
    world.clock.advance(5_000)
    await beat()
    let sent: SentStep | undefined
    world.faults.after = (step) => {
      if (step.name === 'promote') sent = step
    }
    await createShardMaintenance(world.engine, 0).promote()
    assert.ok(sent)
    await world.engine.runner.run({ name: 'promote', keys: sent.keys, args: sent.args })
    assert.equal(await redis.client.llen(shard().queue('1').ready), 3)
    await assertClean(world)
  })

  test('stamps leases anew after a forward jump, and reaps nobody', async () => {
    await pushOne(intake)
    const source = await openExecutor(world, 'e1')
    const [work] = await claimed(source, 1)
    world.clock.jump(3_600_000)
    const upkeep = createShardMaintenance(world.engine, 0)
    await upkeep.promote()
    assert.deepEqual(await upkeep.reap(), { jobs: 0, executors: 0 })
    assert.equal((await source.beat(false)).status, 'ok')
    assert.ok(work)
    assert.deepEqual(await source.finish([ended(world, work)]), ['done'])
  })

  test('lets time that goes back by seconds stand still until Redis is there again', async () => {
    const source = await openExecutor(world, 'e1')
    const nowOf = async () => {
      const push = await intake.push(newJob({ start: { delaySeconds: 0 } }))
      const [work] = await claimed(source, 1)
      assert.ok('scheduledAtMs' in push && push.scheduledAtMs === work?.startedAtMs)
      return work.startedAtMs
    }
    assert.equal(await nowOf(), NOON_MS)
    world.clock.jump(-5_000)
    assert.equal(await nowOf(), NOON_MS)
    world.clock.advance(4_999)
    assert.equal(await nowOf(), NOON_MS)
    world.clock.advance(2)
    assert.equal(await nowOf(), NOON_MS + 1)
    assert.deepEqual(await redis.client.hgetall(shard().clock), { t: String(NOON_MS + 1) })
  })

  test('believes time that goes back by more at once: leases and due times are of the new time', async () => {
    const source = await openExecutor(world, 'e1')
    await pushOne(intake)
    world.clock.jump(-5_001)
    const push = await intake.push(newJob({ start: { delaySeconds: 3 } }))
    assert.ok('scheduledAtMs' in push)
    assert.equal(push.scheduledAtMs, NOON_MS - 5_001 + 3_000)
    assert.equal(Number(await redis.client.zscore(shard().executors, 'e1')), NOON_MS - 5_001 + 15_000)
    assert.deepEqual(await redis.client.hmget(shard().clock, 'jb', 'jf'), ['1', null])
    assert.equal((await source.beat(false)).status, 'ok')
  })

  // Straight away, to the near set, and to the bucket of a minute.
  test.each([0, 3, 300])(
    'a job pushed with a delay of %i s after the clock was set back by two minutes runs after it',
    async (delaySeconds) => {
      const source = await openExecutor(world, 'e1')
      const upkeep = createShardMaintenance(world.engine, 0)
      await pushOne(intake)
      await claimed(source, 1)
      world.clock.jump(-120_000)
      const push = await intake.push(newJob({ start: { delaySeconds } }))
      const dueMs = NOON_MS - 120_000 + delaySeconds * 1000
      assert.ok('scheduledAtMs' in push)
      assert.equal(push.scheduledAtMs, dueMs)
      for (let leftMs = delaySeconds * 1000 - 1; leftMs > 0; leftMs -= 9_000) {
        world.clock.advance(Math.min(9_000, leftMs))
        assert.equal((await source.beat(false)).status, 'ok')
        await upkeep.promote()
        assert.equal((await claimed(source, 1)).length, 0)
      }
      if (delaySeconds > 0) world.clock.advance(1)
      await upkeep.promote()
      const [work] = await claimed(source, 1)
      assert.deepEqual([work?.jobId, work?.startedAtMs], [push.jobId, dueMs])
      await assertClean(world)
    },
  )

  test('however the clock is set, a step is never behind it, nor five seconds ahead', async () => {
    const moves = fc.array(
      fc.record({
        jump: fc.boolean(),
        ms: fc.oneof(fc.integer({ min: -12_000, max: 12_000 }), fc.integer({ min: -10, max: 10 })),
      }),
      { minLength: 1, maxLength: 30 },
    )
    await fc.assert(
      fc.asyncProperty(moves, async (steps) => {
        let [lastMs, lastWallMs] = [-Infinity, -Infinity]
        for (const { jump, ms } of steps) {
          if (jump) world.clock.jump(ms)
          else world.clock.advance(Math.abs(ms))
          const wallMs = world.clock.wallMs
          const nowMs = Number(((await beat()) as [string, string])[1])
          assert.ok(nowMs >= wallMs && nowMs <= wallMs + 5_000, `${nowMs} at ${wallMs}`)
          // It goes back only where the clock does, and by what it does.
          if (nowMs < lastMs) assert.ok(nowMs === wallMs && lastMs - wallMs > 5_000 && wallMs < lastWallMs)
          lastMs = nowMs
          lastWallMs = wallMs
        }
      }),
      { numRuns: 100 },
    )
  })

  test('a full Redis refuses a push whole, and lets what is in flight end', async () => {
    await pushAll(intake, 20)
    const source = await openExecutor(world, 'e1')
    const works = await claimed(source, 10)
    // The id block and the queue are there, so the first refused step is enqueue itself.
    await redis.client.config('SET', 'maxmemory', '1mb')
    try {
      const before = await redis.client.keys('*')
      await assert.rejects(pushOne(intake), StorageFullError)
      await assert.rejects(pushOne(world.newIntake(), { queue: 'other' }), StorageFullError)
      assert.deepEqual((await redis.client.keys('*')).toSorted(), before.toSorted())
      await assertClean(world)
      const ends = works.map((work, i) => ended(world, work, { failed: i % 2 === 0 }))
      assert.deepEqual(
        await source.finish(ends),
        works.map(() => 'done'),
      )
      assert.equal((await claimed(source, 64)).length, 10)
      assert.equal((await source.beat(false)).status, 'ok')
      await createShardMaintenance(world.engine, 0).promote()
      await source.leave()
      await assertClean(world)
    } finally {
      await redis.client.config('SET', 'maxmemory', '0')
    }
  })
})
