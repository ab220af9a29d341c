import assert from 'node:assert/strict'
import { beforeEach, describe } from 'vitest'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import { QUEUE, STATISTICS } from '../../../../src/redis/base/layout/fields.ts'
import { queueIdOf } from '../../../../src/redis/base/layout/keys.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { ROUND_LOCK_MS, createMinuteRound } from '../../../../src/redis/watch/minute-round.ts'
import { createStatisticsReader } from '../../../../src/redis/watch/statistics/statistics-reader.ts'
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

describe('what statistics count', () => {
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
  const reader = () => createStatisticsReader(world.engine)
  const emails = queueIdOf('1', 0, 1)

  async function pass(): Promise<void> {
    world.clock.advance(60_000)
    world.engine.runner.noteRedisTime(0, world.clock.wallMs)
    await createMinuteRound(world.engine, keys())()
  }

  async function endOne(name = 'e1'): Promise<void> {
    const source = await openExecutor(world, name)
    await source.finish((await claimed(source, 1)).map((work) => ended(world, work)))
  }

  test('what waits in a paused queue, although nothing ends there', async () => {
    const settings = { ...DEFAULT_QUEUE_SETTINGS, isActive: false }
    await createQueueStore(world.engine).apply('default', 'emails', settings)
    await pass()
    await pushAll(world.newIntake(), 3)
    await pass()
    await pass()
    const minutes = await reader().ofQueue('default', emails, 0)
    assert.deepEqual(
      [...(minutes?.values() ?? [])]
        .map(({ depth, oldestReadySeconds }) => [depth, oldestReadySeconds])
        .toSorted(([, a = 0], [, b = 0]) => b - a),
      [
        [3, 120],
        [3, 60],
      ],
    )
    await assertClean(world)
  })

  test('the longest call, which says more than its bucket, open and settled', async () => {
    await pushAll(world.newIntake(), 2)
    const minute = Math.floor(world.clock.wallMs / 60_000)
    await endOne()
    for (let passed = 0; passed < 4; passed += 1) {
      await pass()
      const [ofQueue, ofTeam] = await Promise.all([
        reader().ofQueue('default', emails, 0),
        reader().ofTeam('default', 0),
      ])
      // It took 5 ms, and the bucket from 4 to 8 ms stands for 5.7.
      const longest = [ofQueue, ofTeam].map((minutes) => minutes?.get(minute)?.longestLatencyMs)
      assert.deepEqual(longest, [5, 5])
    }
    await assertClean(world)
  })

  test('under the lock of one executor, however many come at once', async () => {
    await pushAll(world.newIntake(), 3)
    let counts = 0
    world.faults.before = ({ name }) => {
      if (name === 'read_queues') counts += 1
    }
    const executors = Array.from({ length: 8 }, () => createMinuteRound(world.engine, keys()))
    for (const minute of [1, 2, 3]) {
      world.clock.advance(60_000)
      await Promise.all(executors.map((keep) => keep()))
      assert.equal(counts, minute)
    }
    // A lock of another that the clock, set back, puts far ahead.
    world.clock.jump(-3_600_000)
    world.engine.runner.noteRedisTime(0, world.clock.wallMs)
    await createMinuteRound(world.engine, keys())()
    assert.equal(counts, 4)
    await assertClean(world)
  })

  test('by an executor of the version before, while it says that it counts', async () => {
    await pushAll(world.newIntake(), 3)
    const keep = createMinuteRound(world.engine, keys())
    world.clock.advance(60_000)
    world.engine.runner.noteRedisTime(0, world.clock.wallMs)
    const field = STATISTICS.lockEndsAt
    await redis.client.hset(keys().statistics, field, String(world.clock.wallMs + ROUND_LOCK_MS))
    const counted = () => redis.client.hexists(keys().statistics, STATISTICS.sampledMinute)
    await keep()
    assert.equal(await counted(), 0)
    world.clock.advance(ROUND_LOCK_MS)
    await keep()
    assert.equal(await counted(), 1)
    assert.equal(
      Number(await redis.client.hget(keys().statistics, field)),
      world.clock.wallMs + ROUND_LOCK_MS,
    )
  })

  test('of a minute from its second 15 on, when the runs of its crons are under way', async () => {
    await pushAll(world.newIntake(), 3)
    const keep = createMinuteRound(world.engine, keys())
    const minute = Math.floor(world.clock.wallMs / 60_000) + 1
    const countedAt = async (unixMs: number) => {
      world.clock.advance(unixMs - world.clock.wallMs)
      world.engine.runner.noteRedisTime(0, unixMs)
      await keep()
      return Number(await redis.client.hget(keys().statistics, STATISTICS.sampledMinute))
    }
    assert.equal(await countedAt(minute * 60_000 + 14_999), minute - 1)
    assert.equal(await countedAt(minute * 60_000 + 15_000), minute)
  })

  describe.each([
    ['others change the tallies all the time', false],
    ['the executor dies', true],
  ])('every queue and team in a minute whose count is given up half way, as %s', (_, dies) => {
    test.each([
      ['the same executor', true],
      ['another one', false],
    ])('and which %s goes on to count', async (__, isSame) => {
      await pushAll(world.newIntake(), 3)
      const keep = createMinuteRound(world.engine, keys())
      world.clock.advance(60_000)
      world.engine.runner.noteRedisTime(0, world.clock.wallMs)
      let folds = 0
      world.faults.before = async ({ name }) => {
        if (name !== 'fold') return
        folds += 1
        // The tallies of the queue are written by then, those of the team are not.
        if (folds <= 1) return
        if (dies) throw new Error('died')
        await redis.client.hincrby(keys().statistics, STATISTICS.version, 1)
      }
      await keep().catch(() => undefined)
      assert.ok(folds > 1)
      world.faults.before = () => undefined
      const counted = () => redis.client.hget(keys().statistics, STATISTICS.sampledMinute)
      const other = createMinuteRound(world.engine, keys())
      await other()
      assert.equal(await counted(), null)
      if (!isSame) world.clock.advance(ROUND_LOCK_MS)
      await (isSame ? keep : other)()
      assert.equal(Number(await counted()), Math.floor(world.clock.wallMs / 60_000))
      await pass()
      await pass()
      for (const minutes of [
        await reader().ofTeam('default', 0),
        await reader().ofQueue('default', emails, 0),
      ]) {
        const depths = [...(minutes?.values() ?? [])].map(({ depth }) => depth)
        assert.deepEqual(depths, [3, 3, 3])
      }
      await assertClean(world)
    })
  })

  test('no minute of which only later queues could be counted, until the first ones are', async () => {
    const count = 251
    const intake = world.newIntake()
    await Promise.all(Array.from({ length: count }, (_, i) => pushOne(intake, { queue: `q${i}` })))
    const keep = createMinuteRound(world.engine, keys())
    world.clock.advance(60_000)
    world.engine.runner.noteRedisTime(0, world.clock.wallMs)
    const counted = () => redis.client.hget(keys().statistics, STATISTICS.sampledMinute)
    let reads = 0
    world.faults.before = async ({ name }) => {
      if (name === 'read_queues') reads += 1
      // Others change the tallies all the time while the first page is counted.
      if (name === 'fold' && reads === 1) {
        await redis.client.hincrby(keys().statistics, STATISTICS.version, 1)
      }
    }
    await keep()
    assert.equal(reads, 2)
    assert.equal(await counted(), null)
    await keep()
    const minute = Math.floor(world.clock.wallMs / 60_000)
    assert.equal(Number(await counted()), minute)
    assert.equal((await reader().ofTeam('default', 0)).get(minute)?.depth, count)
    assert.equal((await redis.client.hkeys(keys().openTallies)).length, count + 1)
    await assertClean(world)
  })

  test('the hidden queue of a cron for its team alone', async () => {
    await pushAll(world.newIntake(), 1)
    await redis.client.hset(keys().queue('1').meta, QUEUE.name, 'default/', QUEUE.cronId, '7')
    await endOne()
    await pass()
    const team = await reader().ofTeam('default', 0)
    assert.equal(
      [...team.values()].reduce((sum, { done }) => sum + done, 0),
      1,
    )
    const fields = await redis.client.hkeys(keys().openTallies)
    assert.deepEqual(
      fields.filter((field) => field.includes('.q')),
      [],
    )
    assert.equal(await reader().ofQueue('default', emails, 0), null)
  })

  test('a job that ends while the ends before it are folded', async () => {
    await pushAll(world.newIntake(), 2)
    await endOne('e1')
    let folds = 0
    world.faults.before = async ({ name }) => {
      if (name === 'fold') folds += 1
      if (name === 'fold' && folds === 1) await endOne('e2')
    }
    await pass()
    await pass()
    const team = await reader().ofTeam('default', 0)
    assert.equal(
      [...team.values()].reduce((sum, { done }) => sum + done, 0),
      2,
    )
    await assertClean(world)
  })

  test('a deleted queue for its team, also what ended before and was not folded yet', async () => {
    await pushAll(world.newIntake(), 2)
    await endOne('e1')
    await pass()
    await endOne('e2')
    await createQueueStore(world.engine).remove('default', 'emails')
    await pass()
    await pass()
    assert.equal(await reader().ofQueue('default', emails, 0), null)
    const team = await reader().ofTeam('default', 0)
    assert.equal(
      [...team.values()].reduce((sum, { done }) => sum + done, 0),
      2,
    )
    await assertClean(world)
  })

  test('nobody else’s queue', async () => {
    await pushAll(world.newIntake(), 1)
    assert.equal(await reader().ofQueue('other', emails, 0), null)
    assert.deepEqual([...(await reader().ofTeam('other', 0))], [])
  })
})
