import { array, assert, asyncProperty, integer, nat, record } from 'fast-check'
import { beforeEach, describe, expect } from 'vitest'
import { RedisJobSource } from '../../../../src/redis/jobs/execute/job-source.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { assertClean } from '../../../support/engine/model-executor.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { FlowStage, mostWithin } from './flow-stage.ts'

const perSecond = (limit: number) => ({ rateLimit: { limit, periodSeconds: 1 } })

describe('a rate limit', () => {
  let redis: TestRedis
  let stage: FlowStage | null = null

  test.beforeAll(({ emptyRedis }) => {
    redis = emptyRedis
  })
  beforeEach(() => () => stage?.world.close())
  const open = async (...[settings, executors]: [Parameters<FlowStage['set']>[0], number?]) =>
    (stage = await FlowStage.open(redis, settings, executors))

  test('is never exceeded in any span of its period, and 97 % of it is used', async () => {
    for (const { limit, periodSeconds, spanMs, stepMs } of [
      { limit: 1, periodSeconds: 1, spanMs: 40_000, stepMs: 8 },
      { limit: 10, periodSeconds: 1, spanMs: 10_000, stepMs: 4 },
      { limit: 100, periodSeconds: 1, spanMs: 3_000, stepMs: 3 },
      { limit: 1_000, periodSeconds: 1, spanMs: 3_000, stepMs: 3 },
      { limit: 90, periodSeconds: 60, spanMs: 200_000, stepMs: 90 },
    ]) {
      stage?.world.close()
      const { begins, world } = await open({ rateLimit: { limit, periodSeconds } }, 3)
      const periods = spanMs / (periodSeconds * 1000)
      await stage?.push(Math.ceil(limit * (periods + 1)))
      await stage?.run(spanMs, { stepMs })
      expect(mostWithin(begins, periodSeconds * 1000)).toBeLessThanOrEqual(limit)
      expect(begins.length).toBeGreaterThanOrEqual(Math.floor(limit * periods * 0.97))
      await assertClean(world)
    }
  })

  test('spreads what it lets through over the period, and saves nothing up while there is no work', async () => {
    const { begins } = await open(perSecond(10))
    await stage?.run(30_000, { stepMs: 1_000 })
    await stage?.push(30)
    await stage?.run(1_000)
    expect(begins).toHaveLength(10)
    const gaps = begins.slice(1).map((begin, i) => begin - (begins[i] ?? 0))
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(86)
  })

  test('counts the jobs of all executors, and retries and replays as others', async () => {
    const { world, begins, ...one } = await open(
      { ...perSecond(5), retriesEnabled: true, retryDelays: [1] },
      3,
    )
    await stage?.push(10)
    await stage?.run(8_000, { answers: () => 'bad' })
    expect(begins).toHaveLength(20)
    expect(mostWithin(begins, 1_000)).toBe(5)
    expect((await one.store.getByName('default', 'partner'))?.counts.dead).toBe(10)
    await assertClean(world)
  })

  test('counts a job that was lost with its executor when it begins again', async () => {
    const { world } = await open({ rateLimit: { limit: 1, periodSeconds: 10 } })
    await stage?.push(1)
    expect(await stage?.claim()).toHaveLength(1)
    const other = new RedisJobSource(world.engine, 0, 'e2')
    for (let seconds = 0; seconds < 30; seconds += 5) {
      await other.beat(true)
      await createShardMaintenance(world.engine, 0).reap()
      world.clock.advance(5_000)
    }
    await stage?.push(5)
    expect(await stage?.claim(64, other)).toHaveLength(1)
    expect(await stage?.claim(64, other)).toEqual([])
    await assertClean(world)
  })

  test('keeps the queue out of the ring until then, at no command a second', async () => {
    await open({ rateLimit: { limit: 1, periodSeconds: 3_600 } })
    await stage?.push(100)
    expect(await stage?.claim()).toHaveLength(1)
    expect(await stage?.isInRing()).toBe(false)
    expect(await stage?.markedAt()).toBe(3_601_500 - 1_000)
    expect((await stage?.queue())?.throttle).toMatchObject({ reason: 'rate_limited' })
    await stage?.push(1)
    expect(await stage?.isInRing()).toBe(false)
  })

  test('that is raised holds at once, and one that is lowered does not wait for the old one', async () => {
    const { world } = await open({ rateLimit: { limit: 1, periodSeconds: 3_600 } })
    await stage?.push(100)
    await stage?.claim()
    await stage?.set(perSecond(100))
    await stage?.run(1_000)
    expect(stage?.begins.length).toBeGreaterThanOrEqual(97)
    await stage?.push(50)
    await stage?.set(perSecond(2))
    const before = stage?.begins.length ?? 0
    await stage?.run(2_000)
    expect((stage?.begins.length ?? 0) - before).toBeLessThanOrEqual(4)
    await stage?.set({})
    expect(await stage?.claim()).toHaveLength(48)
    await assertClean(world)
  })

  test('does not hold up other queues, nor a paused one that is resumed', async () => {
    await open(perSecond(1))
    await stage?.push(5)
    await stage?.push(5, 'other')
    expect(await stage?.claim()).toHaveLength(6)
    await stage?.set({ ...perSecond(1), isActive: false })
    await stage?.run(3_000, { stepMs: 50 })
    expect(stage?.begins).toHaveLength(6)
    expect((await stage?.queue())?.throttle).toBe(null)
    await stage?.set(perSecond(1))
    await stage?.run(3_000, { stepMs: 50 })
    expect(stage?.begins.length).toBe(9)
  })

  test('never loses a queue that has jobs, however late a claim comes', async () => {
    for (const rateLimit of [
      { limit: 10_000, periodSeconds: 60 },
      { limit: 6_000, periodSeconds: 60 },
      { limit: 3_000, periodSeconds: 60 },
      { limit: 3_000, periodSeconds: 10 },
      { limit: 700, periodSeconds: 3 },
    ]) {
      stage?.world.close()
      const { world } = await open({ rateLimit })
      await stage?.push(1_500)
      for (let late = 1; late < 250; late += 1) {
        await stage?.run(late % 17, { stepMs: 17 })
        if (late % 10 === 0) await assertClean(world)
      }
    }
  })

  test('holds for any limit, period and arrival of jobs', async () => {
    await assert(
      asyncProperty(
        integer({ min: 1, max: 400 }),
        integer({ min: 1, max: 3 }),
        array(
          record({
            push: nat(60),
            ms: integer({ min: 1, max: 700 }),
            stepMs: integer({ min: 1, max: 60 }),
          }),
          {
            maxLength: 12,
          },
        ),
        async (limit, periodSeconds, acts) => {
          stage?.world.close()
          const { begins, world } = await open({ rateLimit: { limit, periodSeconds } }, 2)
          for (const { push, ms, stepMs } of acts) {
            await stage?.push(push)
            await stage?.run(ms, { stepMs })
          }
          expect(mostWithin(begins, periodSeconds * 1000)).toBeLessThanOrEqual(limit)
          await assertClean(world)
        },
      ),
      { numRuns: 25 },
    )
  })
})
