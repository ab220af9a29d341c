import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { beforeEach, describe } from 'vitest'
import { BEAT } from '../../../src/redis/jobs/execute/job-source.ts'
import { setClockHold } from '../../../src/redis/base/engine/clock-hold.ts'
import { shardKeys } from '../../../src/redis/base/engine/engine.ts'
import { readShardClock } from '../../../src/redis/base/engine/shard-clock.ts'
import { createQueueStats } from '../../../src/redis/jobs/queues/queue-stats.ts'
import { createShardMaintenance } from '../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { assertClean, claimed, openExecutor, pushAll } from '../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../support/engine/model-world.ts'
import type { TestRedis } from '../../support/servers/redis-server.ts'
import { test } from '../../support/servers/shared-redis.ts'

const HOUR_MS = 3_600_000

describe('time that is held', () => {
  let redis: TestRedis
  let world: World

  test.beforeAll(({ emptyRedis }) => {
    redis = emptyRedis
  })
  beforeEach(async () => {
    world = await openWorld(redis, { shards: 1 })
    return () => world.close()
  })

  /** Answers the time of a step. */
  async function step(): Promise<number> {
    const keys = shardKeys(world.engine, 0)
    const call = BEAT.with({
      keys,
      heldJobs: keys.heldJobs('e1'),
      leaseMs: 15_000,
      executor: 'e1',
      register: 1,
    })
    return Number(((await world.engine.runner.run(call)) as [string, string])[1])
  }

  const heldMs = async () => (await readShardClock(world.engine, shardKeys(world.engine, 0))).heldMs

  test('goes on after the clock was set back, so that what was planned comes when it was', async () => {
    await setClockHold(world.engine, HOUR_MS)
    await pushAll(world.newIntake(), 2, { start: { delaySeconds: 30 } })
    world.clock.jump(-HOUR_MS)
    const executor = await openExecutor(world, 'e1')
    const upkeep = createShardMaintenance(world.engine, 0)
    // Executors beat every few seconds.
    for (let at = 0; at < 29_000; at += 7_250) {
      world.clock.advance(7_250)
      await executor.beat(false)
    }
    await upkeep.promote()
    assert.equal((await claimed(executor, 10)).length, 0)
    world.clock.advance(1_000)
    for (let i = 0; i < 2; i += 1) await upkeep.promote()
    world.clock.advance(2_000)
    const [queue] = await createQueueStats(world.engine).count([{ team: 'default', name: 'emails' }])
    assert.deepEqual([queue?.counts.pending, queue?.oldestReadyMs], [2, 2_000])
    assert.equal((await claimed(executor, 10)).length, 2)
    assert.equal(await heldMs(), HOUR_MS)
    await executor.leave()
    await assertClean(world)
  })

  test('ends also when it was shorter than a gap that counts as a jump', async () => {
    await setClockHold(world.engine, HOUR_MS)
    await step()
    world.clock.jump(-8_000)
    await step()
    assert.equal(await heldMs(), 8_000)
    world.clock.jump(8_000)
    await step()
    assert.equal(await heldMs(), 0)
  })

  test('ends when the clock is set right, and nothing jumps', async () => {
    await setClockHold(world.engine, HOUR_MS)
    const before = await step()
    world.clock.jump(-HOUR_MS)
    world.clock.advance(1_000)
    // What passed since the last step is not known.
    assert.equal(await step(), before)
    world.clock.jump(HOUR_MS)
    world.clock.advance(1_000)
    assert.equal(await step(), before + 2_000)
    assert.equal(await heldMs(), 0)
  })

  test('gives back a pause without steps, so that nothing is early', async () => {
    await setClockHold(world.engine, HOUR_MS)
    const before = await step()
    world.clock.jump(-HOUR_MS)
    await step()
    world.clock.advance(60_000)
    assert.equal(await step(), before)
    assert.equal(await heldMs(), HOUR_MS - 60_000)
  })

  test.each([
    ['beyond the bound', HOUR_MS - 1],
    ['without a bound', 0],
  ])('is not, %s: the clock is believed', async (_, mostMs) => {
    await setClockHold(world.engine, mostMs)
    await step()
    world.clock.jump(-HOUR_MS)
    assert.equal(await step(), world.clock.wallMs)
    assert.equal(await heldMs(), 0)
  })

  test('ends when the bound falls below it, or a version that knows no hold makes a step', async () => {
    const { clock } = shardKeys(world.engine, 0)
    await setClockHold(world.engine, HOUR_MS)
    const hold = async () => {
      await step()
      world.clock.jump(-HOUR_MS)
      await step()
      assert.equal(await heldMs(), HOUR_MS)
    }
    await hold()
    await setClockHold(world.engine, 0)
    assert.equal(await step(), world.clock.wallMs)
    assert.equal(await heldMs(), 0)
    await setClockHold(world.engine, HOUR_MS)
    world.clock.jump(2 * HOUR_MS)
    await hold()
    // What the step of such a version writes: it takes what is held for a jump back.
    await redis.client.hset(clock, 't', String(world.clock.wallMs))
    world.clock.advance(100)
    assert.equal(await step(), world.clock.wallMs)
    assert.equal(await heldMs(), 0)
  })

  test('however the clock is set, it is never behind the clock, never further ahead than the bound, and never early', async () => {
    const most = 60_000
    await setClockHold(world.engine, most)
    const moves = fc.array(fc.record({ jump: fc.boolean(), ms: fc.integer({ min: -40_000, max: 40_000 }) }), {
      minLength: 1,
      maxLength: 30,
    })
    await fc.assert(
      fc.asyncProperty(moves, async (all) => {
        let last = { nowMs: -Infinity, wallMs: -Infinity, monotonicMs: -Infinity }
        for (const { jump, ms } of all) {
          if (jump) world.clock.jump(ms)
          else world.clock.advance(Math.abs(ms))
          const { wallMs, monotonicMs } = world.clock
          const nowMs = await step()
          assert.ok(nowMs >= wallMs && nowMs <= wallMs + most + 5_000, `${nowMs} at ${wallMs}`)
          // It goes back only where the clock does; and it gains no more than the time or the clock does.
          if (nowMs < last.nowMs) assert.ok(nowMs === wallMs && wallMs < last.wallMs, 'goes back')
          const gainedMs = Math.max(monotonicMs - last.monotonicMs, wallMs - last.wallMs)
          assert.ok(nowMs - last.nowMs <= gainedMs + 5_000, 'early')
          last = { nowMs, wallMs, monotonicMs }
        }
      }),
      { numRuns: 100 },
    )
  })
})
