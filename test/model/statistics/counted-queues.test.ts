import assert from 'node:assert/strict'
import { afterAll, beforeAll, beforeEach, describe, test } from 'vitest'
import { DEFAULT_QUEUE_SETTINGS } from '../../../src/domain/jobs/queue-settings.ts'
import { shardKeys } from '../../../src/redis/client/engine.ts'
import { QUEUE, STATISTICS } from '../../../src/redis/layout/fields.ts'
import { queueIdOf } from '../../../src/redis/layout/keys.ts'
import { createQueueStore } from '../../../src/redis/queues/queue-store.ts'
import { COUNT_TURN_MS } from '../../../src/redis/statistics/count-turn.ts'
import { createStatistician } from '../../../src/redis/statistics/statistician.ts'
import { createStatisticsReader } from '../../../src/redis/statistics/statistics-reader.ts'
import { assertClean, claimed, ended, openExecutor, pushAll } from '../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../support/engine/model-world.ts'
import { startRedis, type TestRedis } from '../../support/servers/redis-server.ts'

describe('what statistics count', () => {
  let redis: TestRedis
  let world: World

  beforeAll(async () => {
    redis = await startRedis({ settings: ['--appendonly', 'no'] })
  })
  afterAll(() => redis.stop())
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
    await createStatistician(world.engine, keys())()
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

  test('in the turn of one executor, however many come at once', async () => {
    await pushAll(world.newIntake(), 3)
    let counts = 0
    world.faults.before = ({ name }) => {
      if (name === 'sample_queues') counts += 1
    }
    const executors = Array.from({ length: 8 }, () => createStatistician(world.engine, keys()))
    for (const minute of [1, 2, 3]) {
      world.clock.advance(60_000)
      await Promise.all(executors.map((keep) => keep()))
      assert.equal(counts, minute)
    }
    // A turn of another that the clock, set back, puts far ahead.
    world.clock.jump(-3_600_000)
    world.engine.runner.noteRedisTime(0, world.clock.wallMs)
    await createStatistician(world.engine, keys())()
    assert.equal(counts, 4)
    await assertClean(world)
  })

  test('of a minute from its second 15 on, when the runs of its crons are under way', async () => {
    await pushAll(world.newIntake(), 3)
    const keep = createStatistician(world.engine, keys())
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
      const keep = createStatistician(world.engine, keys())
      world.clock.advance(60_000)
      world.engine.runner.noteRedisTime(0, world.clock.wallMs)
      let folds = 0
      world.faults.before = async ({ name }) => {
        if (name !== 'fold') return
        folds += 1
        // The turn is taken and the tallies of the queue are written by then, those of the team are not.
        if (folds <= 2) return
        if (dies) throw new Error('died')
        await redis.client.hincrby(keys().statistics, STATISTICS.version, 1)
      }
      await keep().catch(() => undefined)
      assert.ok(folds > 2)
      world.faults.before = () => undefined
      const counted = () => redis.client.hget(keys().statistics, STATISTICS.sampledMinute)
      const other = createStatistician(world.engine, keys())
      await other()
      assert.equal(await counted(), null)
      if (!isSame) world.clock.advance(COUNT_TURN_MS)
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
