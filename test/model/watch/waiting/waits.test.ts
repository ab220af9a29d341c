import { beforeEach, describe, expect } from 'vitest'
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from '../../../../src/domain/jobs/queue-settings.ts'
import type { MaintenanceWindow } from '../../../../src/domain/windows/maintenance-window.ts'
import type { JobIntake } from '../../../../src/ports/jobs.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import { QUEUE } from '../../../../src/redis/base/layout/fields.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { createMinuteRound } from '../../../../src/redis/watch/minute-round.ts'
import { createWaitExplainer } from '../../../../src/redis/watch/wait-explainer.ts'
import { claimed, ended, openExecutor, pushAll, pushOne } from '../../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'

describe('why a job waits', () => {
  let redis: TestRedis
  let world: World
  let intake: JobIntake
  let windows: MaintenanceWindow[]
  let callQuota: number | null

  test.beforeAll(({ emptyRedis }) => {
    redis = emptyRedis
  })
  beforeEach(async () => {
    world = await openWorld(redis, { shards: 1 })
    intake = world.newIntake()
    windows = []
    callQuota = null
    return () => world.close()
  })

  const explain = (jobId: number, team = 'default') =>
    createWaitExplainer(world.engine, {
      windows: { ofTeam: () => windows },
      callQuotaOf: () => callQuota,
    }).explain(team, jobId)
  const apply = (change: Partial<QueueSettings>) =>
    createQueueStore(world.engine).apply('default', 'emails', { ...DEFAULT_QUEUE_SETTINGS, ...change })
  const nowMs = () => world.clock.wallMs
  const keys = () => shardKeys(world.engine, 0)

  /** Ends as many jobs as `ends` says in a minute, one minute after the other. */
  async function work(ends: readonly number[]): Promise<void> {
    for (const [i, count] of ends.entries()) {
      const source = await openExecutor(world, `worker${i}`)
      await pushAll(intake, count)
      const works = await claimed(source, count)
      await source.finish(works.map((one) => ended(world, one)))
      world.clock.advance(60_000)
      await createMinuteRound(world.engine, keys())()
    }
  }

  test('its queue keeps to a rate, or leaves its target alone', async () => {
    await apply({ rateLimit: { limit: 2, periodSeconds: 1 } })
    const ids = await pushAll(intake, 10)
    const source = await openExecutor(world, 'e1')
    // The next one may begin an interval of 512.5 ms after that job, but for the 15 ms that may be made up; three are before the fifth.
    expect(await claimed(source, 64)).toHaveLength(1)
    const fifth = await explain(ids[4] ?? 0)
    expect(fifth).toMatchObject({
      reason: 'rate_limited',
      facts: { throttle: { reason: 'rate_limited', untilMs: nowMs() + 498 }, before: { jobs: 3 } },
      estimatedStartMs: Math.round(nowMs() + 498 + 3 * 512.5),
    })
    world.clock.advance(500)
    await createShardMaintenance(world.engine, 0).promote()
    // It may begin a job right now, and the last of nine waits all the same.
    expect(await explain(ids[9] ?? 0)).toMatchObject({
      reason: 'rate_limited',
      facts: { throttle: null },
      estimatedStartMs: Math.round(nowMs() + 8 * 512.5),
    })
    expect(await explain(ids[1] ?? 0)).toMatchObject({ reason: 'behind', estimatedStartMs: nowMs() })
    await apply({ respectRetryAfter: true })
    const [work] = await claimed(source, 1)
    const end = ended(world, work as NonNullable<typeof work>, { failed: true })
    await source.finish(end.type === 'ended' ? [{ ...end, retryAfterMs: 90_000 }] : [])
    expect(await explain(ids[5] ?? 0)).toMatchObject({
      reason: 'target_asks_to_wait',
      estimatedStartMs: null,
      facts: { throttle: { reason: 'target_asks_to_wait', untilMs: nowMs() + 90_000 } },
    })
    expect(await explain(ids[2] ?? 0)).toMatchObject({ estimatedStartMs: nowMs() + 90_000 })
  })

  test('it is not due', async () => {
    const id = await pushOne(intake, { start: { delaySeconds: 100 } })
    await openExecutor(world, 'e1')
    const dueMs = nowMs() + 100_000
    expect(await explain(id)).toMatchObject({
      reason: 'not_due',
      estimatedStartMs: dueMs,
      facts: { dueMs, before: null },
    })
  })

  test('its queue is paused', async () => {
    await apply({ isActive: false })
    const [, id] = (await pushAll(intake, 2)) as [number, number]
    await openExecutor(world, 'e1')
    expect(await explain(id)).toMatchObject({
      reason: 'queue_paused',
      estimatedStartMs: null,
      facts: { before: { jobs: 1, isExact: true } },
    })
  })

  test('a window holds it, and the one that closes last says until when', async () => {
    const id = await pushOne(intake)
    await openExecutor(world, 'e1')
    const window = (
      name: string,
      untilMs: number,
      change: Partial<MaintenanceWindow> = {},
    ): MaintenanceWindow => ({
      team: 'default',
      name,
      action: 'hold',
      resource: null,
      reason: null,
      times: { kind: 'once', startMs: nowMs() - 1, endMs: untilMs },
      ...change,
    })
    windows = [
      window('muted', nowMs() + 9_000_000, { action: 'mute' }),
      window('short', nowMs() + 60_000),
      window('long', nowMs() + 120_000, { resource: { kind: 'queue', name: 'emails' } }),
      window('other', nowMs() + 180_000, { resource: { kind: 'queue', name: 'others' } }),
      window('cron', nowMs() + 180_000, { resource: { kind: 'cron', name: 'emails' } }),
    ]
    const held = await explain(id)
    expect(held).toMatchObject({ reason: 'held_by_window', estimatedStartMs: nowMs() + 120_000 })
    expect(held?.facts.hold).toEqual({ window: 'long', untilMs: nowMs() + 120_000 })
    world.clock.advance(180_000)
    expect((await explain(id))?.reason).not.toBe('held_by_window')
  })

  test('no executor runs', async () => {
    const id = await pushOne(intake)
    expect(await explain(id)).toMatchObject({ reason: 'no_executor', estimatedStartMs: null })
    await openExecutor(world, 'e1')
    expect((await explain(id))?.reason).toBe('behind')
    world.clock.advance(16_000)
    expect((await explain(id))?.reason).toBe('no_executor')
  })

  test('its team is at its limit', async () => {
    const [, , id] = (await pushAll(intake, 3)) as [number, number, number]
    await claimed(await openExecutor(world, 'e1'), 2)
    callQuota = 2
    expect(await explain(id)).toMatchObject({
      reason: 'team_at_limit',
      estimatedStartMs: null,
      facts: { team: { taken: 2, limit: 2 } },
    })
    callQuota = 3
    expect((await explain(id))?.reason).toBe('behind')
  })

  test('its queue is at its limit, and the rate of late says until when', async () => {
    await work([60, 30])
    await apply({ maxParallelism: 1 })
    const [, , id] = (await pushAll(intake, 3)) as [number, number, number]
    await claimed(await openExecutor(world, 'e1'), 1)
    // Two minutes with 90 jobs; one before it, and one in flight.
    expect(await explain(id)).toMatchObject({
      reason: 'queue_at_limit',
      facts: { queue: { taken: 1, limit: 1 }, before: { jobs: 1, isExact: true }, endsPerSecond: 0.75 },
      estimatedStartMs: nowMs() + Math.round((2 / 0.75) * 1000),
    })
  })

  test('it is behind others; the next one starts at once', async () => {
    const [first, , third] = (await pushAll(intake, 3)) as [number, number, number]
    await openExecutor(world, 'e1')
    expect(await explain(first)).toMatchObject({ reason: 'behind', estimatedStartMs: nowMs() })
    expect(await explain(third)).toMatchObject({
      reason: 'behind',
      estimatedStartMs: null,
      facts: { before: { jobs: 2, isExact: true } },
    })
    // As a job that was cancelled.
    await redis.client.hdel(keys().queue('1').records, String(first))
    await redis.client.hset(keys().queue('1').meta, QUEUE.cancelledReady, '1')
    expect((await explain(third))?.facts.before?.isExact).toBe(false)
  })

  test('it is a suspect behind others', async () => {
    const ids = await pushAll(intake, 2)
    await claimed(await openExecutor(world, 'e1'), 2)
    for (let i = 0; i < 2; i += 1) {
      world.clock.advance(9_000)
      await createShardMaintenance(world.engine, 0).promote()
    }
    await createShardMaintenance(world.engine, 0).reap()
    await openExecutor(world, 'e2')
    const places = await Promise.all(ids.map(async (id) => (await explain(id))?.facts.before?.jobs))
    expect(new Set(places)).toEqual(new Set([0, 1]))
  })

  test('far back its place is estimated by due times, to within the jobs of one moment', async () => {
    const ids: number[] = []
    for (let i = 0; i < 110; i += 1) {
      ids.push(...(await pushAll(intake, 100)))
      world.clock.advance(1)
    }
    await openExecutor(world, 'e1')
    for (const place of [0, 9_999]) {
      expect((await explain(ids[place] as number))?.facts.before).toEqual({ jobs: place, isExact: true })
    }
    for (const place of [10_150, 10_999]) {
      const before = (await explain(ids[place] as number))?.facts.before
      expect(before?.isExact).toBe(false)
      expect(Math.abs((before?.jobs ?? 0) - place)).toBeLessThanOrEqual(100)
    }
  })

  test('a job that does not wait, is gone or is of another team is not explained', async () => {
    const id = await pushOne(intake)
    const source = await openExecutor(world, 'e1')
    expect(await explain(id, 'other')).toBeNull()
    const works = await claimed(source, 1)
    expect(await explain(id)).toBeNull()
    await source.finish(works.map((one) => ended(world, one)))
    expect(await explain(id)).toBeNull()
    expect(await explain(id + 1_000_000)).toBeNull()
  })
})
