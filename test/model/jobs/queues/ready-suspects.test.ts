import assert from 'node:assert/strict'
import { beforeEach, describe } from 'vitest'
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from '../../../../src/domain/jobs/queue-settings.ts'
import type { JobIntake } from '../../../../src/ports/jobs.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import { RedisJobSource } from '../../../../src/redis/jobs/execute/job-source.ts'
import { inspect } from '../../../../src/redis/upkeep/inspection/inspect.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import { createLiveReader } from '../../../../src/redis/watch/live/live-reader.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { createBacklogReader } from '../../../../src/redis/jobs/queues/backlog-reader.ts'
import { createQueueStats } from '../../../../src/redis/jobs/queues/queue-stats.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { createMinuteRound } from '../../../../src/redis/watch/minute-round.ts'
import { createWaitExplainer } from '../../../../src/redis/watch/wait-explainer.ts'
import { createStatisticsReader } from '../../../../src/redis/watch/statistics/statistics-reader.ts'
import { jobRequest } from '../../../support/engine/engine.ts'
import { claimed, ended, openExecutor, pushAll, pushOne } from '../../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../../support/engine/model-world.ts'
import { AN_ACTOR } from '../../../support/principals.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'

describe('jobs taken back from a lost executor are ready for everything that counts', () => {
  let redis: TestRedis
  let world: World
  let intake: JobIntake
  let pushedAtMs: number

  test.beforeAll(({ emptyRedis }) => {
    redis = emptyRedis
  })
  beforeEach(async () => {
    world = await openWorld(redis, { shards: 1 })
    intake = world.newIntake()
    return () => world.close()
  })

  const keys = () => shardKeys(world.engine, 0)
  const apply = (team: string, change: Partial<QueueSettings>) =>
    createQueueStore(world.engine).apply(team, 'emails', { ...DEFAULT_QUEUE_SETTINGS, ...change })

  /** Pushes `count` jobs, one each millisecond, of which an executor claims some and is lost. */
  async function lose(team: string, { count, claims }: { count: number; claims: number }): Promise<number[]> {
    pushedAtMs = world.clock.wallMs
    const ids: number[] = []
    for (let i = 0; i < count; i += 1) {
      ids.push(await pushOne(intake, { team, queue: 'emails' }))
      world.clock.advance(1)
    }
    const source = new RedisJobSource(world.engine, 0, `lost-${team}-${claims}`)
    assert.equal((await source.beat(true)).status, 'ok')
    if (claims > 0) assert.equal((await claimed(source, claims)).length, claims)
    const upkeep = createShardMaintenance(world.engine, 0)
    for (let i = 0; i < 2; i += 1) {
      world.clock.advance(8_600)
      await upkeep.promote()
    }
    await upkeep.reap()
    return ids
  }

  async function readings(team: string) {
    const [status] = await createQueueStats(world.engine).count([{ team, name: 'emails' }])
    const listed = await createQueueStore(world.engine).getByName(team, 'emails')
    const [live] = await createLiveReader(world.engine).read([{ team, before: null }])
    const backlog = await createBacklogReader(world.engine).read(0)
    const minute = Math.floor(world.clock.wallMs / 60_000)
    await createMinuteRound(world.engine, keys())()
    const tally = (await createStatisticsReader(world.engine).ofTeam(team, minute * 60_000)).get(minute)
    return {
      listed: typeof listed === 'object' ? listed?.counts.pending : listed,
      status: status?.counts.pending,
      statusAge: status?.oldestReadyMs,
      processing: status?.counts.processing,
      live: [live?.figures.pending, live?.figures.inFlight, live?.figures.oldestStartable?.ageMs],
      backlog: [backlog.ready, backlog.usable, backlog.oldestReadyMs],
      depth: tally?.depth,
      depthAge: tally?.oldestReadySeconds,
    }
  }

  test.each([0, 1, 3, 5])('5 pushed, %i of them claimed and lost', async (claims) => {
    await apply('default', { maxParallelism: 5 })
    await lose('default', { count: 5, claims })
    world.clock.advance(60_000 - (world.clock.wallMs % 60_000) + 40_000)
    const age = world.clock.wallMs - pushedAtMs
    assert.deepEqual(await readings('default'), {
      listed: 5,
      status: 5,
      statusAge: age,
      processing: 0,
      live: [5, 0, age],
      backlog: [5, 5, age],
      depth: 5,
      depthAge: Math.floor(age / 1000),
    })
  })

  test('those of a neighbour and of a paused queue count for their own team alone', async () => {
    await lose('default', { count: 3, claims: 3 })
    await lose('other', { count: 2, claims: 2 })
    await apply('other', { isActive: false })
    const [mine, other] = await Promise.all(
      ['default', 'other'].map(async (team) => {
        const [reading] = await createLiveReader(world.engine).read([{ team, before: null }])
        return [
          reading?.figures.pending,
          reading?.figures.inFlight,
          reading?.figures.oldestStartable !== null,
        ]
      }),
    )
    assert.deepEqual(mine, [3, 0, true])
    assert.deepEqual(other, [2, 0, false])
    const { ready, usable } = await createBacklogReader(world.engine).read(0)
    assert.deepEqual([ready, usable], [3, 3], 'nobody needs an executor for a paused queue')
  })

  test('those of a queue that was paused since are pending, and their age is nobody’s to see', async () => {
    await lose('default', { count: 3, claims: 3 })
    await apply('default', { isActive: false })
    const [reading] = await createLiveReader(world.engine).read([{ team: 'default', before: null }])
    assert.equal(await redis.client.zcard(keys().suspects), 3)
    assert.deepEqual(
      [reading?.figures.pending, reading?.figures.inFlight, reading?.figures.oldestStartable],
      [3, 0, null],
    )
  })

  test('a callback is nothing that its team waits for, ready or taken back', async () => {
    const request = { callbackUrl: 'http://caller.test/done', callbackEvents: 'every_attempt' } as const
    await pushOne(intake, { request: jobRequest(request) })
    const source = await openExecutor(world, 'lost')
    await source.finish((await claimed(source, 1)).map((work) => ended(world, work)))
    const figures = async () => {
      world.clock.advance(1_000)
      const [reading] = await createLiveReader(world.engine).read([{ team: 'default', before: null }])
      return [reading?.figures.inFlight, reading?.figures.oldestStartable]
    }
    assert.deepEqual(await figures(), [0, null])
    assert.equal((await claimed(source, 1))[0]?.kind, 'callback')
    const upkeep = createShardMaintenance(world.engine, 0)
    for (let i = 0; i < 2; i += 1) {
      world.clock.advance(8_600)
      await upkeep.promote()
    }
    await upkeep.reap()
    assert.equal(await redis.client.zcard(keys().suspects), 1)
    assert.deepEqual(await figures(), [0, null])
  })

  test('they ask for executors, though they use up the quota of their team', async () => {
    await lose('default', { count: 6, claims: 5 })
    const { ready, usable, oldestReadyMs } = await createBacklogReader(world.engine).read(0, () => 5)
    assert.deepEqual([ready, usable, oldestReadyMs], [5, 5, world.clock.wallMs - pushedAtMs])
  })

  test('of what they wait for, the slots that they keep are no part', async () => {
    const [id = 0] = await lose('default', { count: 3, claims: 2 })
    const explainer = createWaitExplainer(world.engine, {
      windows: { ofTeam: () => [] },
      callQuotaOf: () => null,
    })
    assert.equal((await explainer.explain('default', id))?.facts.queue.taken, 0)
  })

  test('the inspection finds one that is noted with another due time', async () => {
    const [id] = await lose('default', { count: 1, claims: 1 })
    await redis.client.zincrby(keys().queue('1').inFlight, 1, String(id))
    const found = await inspect(world.engine)
    assert.match(JSON.stringify(found), /its record says/)
  })

  test('ids of cancelled jobs that nobody has counted are no ready jobs', async () => {
    await lose('default', { count: 4, claims: 1 })
    await redis.client.rpush(keys().queue('1').ready, '123456', '123460')
    const [status] = await createQueueStats(world.engine).count([{ team: 'default', name: 'emails' }])
    assert.deepEqual(status?.counts, { pending: 4, delayed: 0, processing: 0, dead: 0 })
  })

  test('ids of cancelled jobs at the head of a list hide no age, however many pages of them there are', async () => {
    await apply('default', { maxParallelism: 1 })
    const ids = await pushAll(intake, 1_400, { queue: 'emails' })
    const keepsMs = world.clock.wallMs
    const jobs = createJobStore(world.engine)
    // The first job stays until the end, so that no cancel takes what is behind it off the list.
    for (const id of ids.slice(1, 700)) await jobs.remove('default', id, AN_ACTOR, false)
    world.clock.advance(5_000)
    await redis.client.hdel(keys().queue('1').records, String(ids[0]))
    const [status] = await createQueueStats(world.engine).count([{ team: 'default', name: 'emails' }])
    assert.equal(status?.oldestReadyMs, world.clock.wallMs - keepsMs)
  })
})
