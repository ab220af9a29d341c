import assert from 'node:assert/strict'
import { beforeEach, describe } from 'vitest'
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from '../../../../src/domain/jobs/queue-settings.ts'
import type { QueueListQuery, QueueLists, QueueRows } from '../../../../src/ports/live/queue-lists.ts'
import type { Hold, WindowSource } from '../../../../src/ports/windows.ts'
import { createQueueStats } from '../../../../src/redis/jobs/queues/queue-stats.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { createLiveReader } from '../../../../src/redis/watch/live/live-reader.ts'
import { createMinuteRound } from '../../../../src/redis/watch/minute-round.ts'
import { createQueueLists } from '../../../../src/redis/watch/queue-lists/queue-lists.ts'
import { createStatisticsReader } from '../../../../src/redis/watch/statistics/statistics-reader.ts'
import { assertClean, claimed, ended, openExecutor, pushAll } from '../../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'

const TEAM = 'default'
const HELD: Hold = { team: TEAM, resource: { kind: 'queue', name: 'held' }, untilMs: 8e15 }
const WINDOWS: WindowSource = { mutes: () => null, holds: () => [HELD] }
const HELD_ONLY = [HELD]

describe('a list of queues', () => {
  let redis: TestRedis
  let world: World
  let lists: QueueLists

  test.beforeAll(({ emptyRedis }) => {
    redis = emptyRedis
  })
  beforeEach(async () => {
    world = await openWorld(redis, { shards: 2 })
    lists = createQueueLists(world.engine, { ...WINDOWS, holds: () => HELD_ONLY })
    return () => world.close()
  })

  const make = (name: string, change: Partial<QueueSettings> = {}) =>
    createQueueStore(world.engine).apply(TEAM, name, { ...DEFAULT_QUEUE_SETTINGS, ...change })

  async function list(change: Partial<QueueListQuery> = {}): Promise<QueueRows> {
    const query = {
      team: TEAM,
      text: null,
      sort: 'trouble',
      limit: 10,
      cursor: null,
      may: () => true,
    } as const
    const page = await lists.list({ ...query, ...change })
    assert.ok(page !== 'bad_cursor')
    return page
  }

  const names = ({ rows }: QueueRows) => rows.map(({ name }) => name)

  /** Ends all that can start, in all shards. */
  async function endAll(isFailed: (queue: string) => boolean): Promise<void> {
    for (const { shard } of world.engine.shards) {
      const source = await openExecutor(world, `e${shard}`, shard)
      const works = await claimed(source, 50)
      if (works.length === 0) continue
      await source.finish(
        works.map((work) => ended(world, work, { failed: work.kind === 'job' && isFailed(work.queueName) })),
      )
    }
  }

  async function round(windows: WindowSource = WINDOWS): Promise<void> {
    world.clock.advance(60_000)
    for (const keys of world.engine.shards) {
      world.engine.runner.noteRedisTime(keys.shard, world.clock.wallMs)
      await createMinuteRound(world.engine, keys, windows)()
    }
  }

  /** Three queues have ended jobs, of which one failed; three are stopped, and one waits for an executor. */
  async function shop(): Promise<void> {
    for (const name of ['mails', 'payments', 'quiet']) await make(name)
    await pushAll(world.newIntake(), 3, { queue: 'mails' })
    await pushAll(world.newIntake(), 2, { queue: 'quiet' })
    await endAll((queue) => queue === 'mails')
    await make('held')
    await make('paused', { isActive: false })
    await make('full', { maxParallelism: 1 })
    await pushAll(world.newIntake(), 15, { queue: 'held' })
    await pushAll(world.newIntake(), 4, { queue: 'paused' })
    world.clock.advance(7_000)
    await pushAll(world.newIntake(), 3, { queue: 'full' })
    await pushAll(world.newIntake(), 2, { queue: 'payments' })
    await round()
  }

  test('is sorted by trouble, and says what keeps the jobs of each and what all hold together', async () => {
    await shop()
    const page = await list()
    assert.deepEqual(names(page), ['mails', 'full', 'payments', 'held', 'paused', 'quiet'])
    assert.deepEqual(
      page.rows.map(
        ({ split: { startable, stopped, oldestStartableMs }, lastHour: { ended: all, failed } }) => [
          startable,
          stopped,
          oldestStartableMs,
          [all, failed],
        ],
      ),
      [
        [0, null, null, [3, 3]],
        [1, { reason: 'at_limit', jobs: 2 }, 60_000, [0, 0]],
        [2, null, 60_000, [0, 0]],
        [0, { reason: 'held', jobs: 15 }, null, [0, 0]],
        [0, { reason: 'paused', jobs: 4 }, null, [0, 0]],
        [0, null, null, [2, 0]],
      ],
    )
    const { oldestStartable, ...summary } = page.summary ?? {}
    assert.deepEqual(summary, {
      queues: 6,
      isComplete: true,
      startable: 3,
      stopped: {
        paused: { jobs: 4, queues: 1 },
        held: { jobs: 15, queues: 1 },
        throttled: { jobs: 0, queues: 0 },
        at_limit: { jobs: 2, queues: 1 },
      },
    })
    assert.equal(oldestStartable?.ageMs, 60_000)
    assert.ok(['full', 'payments'].includes(oldestStartable.name))
    await assertClean(world)
  })

  test('leads through pages in its order, with a cursor that no other order takes', async () => {
    await shop()
    for (const sort of ['trouble', 'oldest', 'failed', 'name'] as const) {
      const whole = names(await list({ sort }))
      const walked: string[] = []
      let cursor: string | null = null
      do {
        const page: QueueRows = await list({ sort, limit: 2, cursor })
        walked.push(...names(page))
        cursor = page.nextCursor
      } while (cursor !== null)
      assert.deepEqual(walked, whole)
    }
    const { nextCursor } = await list({ limit: 2 })
    for (const change of [{ sort: 'failed' }, { sort: 'name' }, { text: 'a' }, { team: 'other' }] as const) {
      const query = { team: TEAM, text: null, sort: 'trouble', limit: 2, may: () => true } as const
      assert.equal(await lists.list({ ...query, ...change, cursor: nextCursor }), 'bad_cursor')
    }
  })

  test('finds names that contain a text, in letters of either case, and shows none that may not be seen', async () => {
    for (const name of ['Mails', 'emails', 'orders', 'mail']) await make(name)
    for (const sort of ['name', 'trouble'] as const) {
      assert.deepEqual(names(await list({ text: 'MAIL', sort })).toSorted(), ['Mails', 'emails', 'mail'])
      const own = await list({ text: 'mail', sort, may: (name) => name !== 'emails' })
      assert.deepEqual(names(own).toSorted(), ['Mails', 'mail'])
      if (sort === 'trouble') assert.equal(own.summary?.queues, 2)
    }
    const first = await list({ text: 'mail', sort: 'name', limit: 2 })
    assert.deepEqual(names(first), ['Mails', 'emails'])
    const rest = await list({ text: 'mail', sort: 'name', limit: 2, cursor: first.nextCursor })
    assert.deepEqual([names(rest), rest.nextCursor], [['mail'], null])
    assert.deepEqual((await lists.named(TEAM, 'orders')).rows.length, 1)
    assert.deepEqual((await lists.named(TEAM, 'order')).rows, [])
  })

  test('reads the hour of a queue again only after a while', async () => {
    await make('mails')
    let reads = 0
    world.faults.before = ({ name }) => {
      if (name === 'read_hours') reads += 1
    }
    await list()
    await list()
    assert.equal(reads, 1)
    world.clock.advance(15_000)
    world.engine.shards.forEach(({ shard }) => world.engine.runner.noteRedisTime(shard, world.clock.wallMs))
    await list()
    assert.equal(reads, 2)
  })

  test('has an hour that lacks what ended before', async () => {
    await make('mails')
    await pushAll(world.newIntake(), 3, { queue: 'mails' })
    await endAll(() => false)
    for (const [minutes, all] of [
      [1, 3],
      [58, 3],
      [1, 0],
    ] as const) {
      world.clock.advance((minutes - 1) * 60_000)
      await round()
      const [mails] = (await list()).rows
      assert.deepEqual([minutes, mails?.lastHour.ended], [minutes, all])
      assert.equal(
        mails?.lastHour.trend.ended.reduce((sum, one) => sum + one, 0),
        all,
      )
    }
    await assertClean(world)
  })

  test('agrees with the statistics and the live figures of the team', async () => {
    await shop()
    const minute = Math.floor(world.clock.wallMs / 60_000)
    const minutes = await createStatisticsReader(world.engine).ofTeam(TEAM, minute * 60_000)
    const { depth, startable, stopped, oldestStartableSeconds, oldestReadySeconds, oldestQueue } =
      minutes.get(minute) ?? assert.fail('nothing was counted')
    assert.deepEqual([depth, startable, stopped], [24, 3, 21])
    assert.deepEqual([oldestReadySeconds, oldestStartableSeconds], [67, 60])
    const ids = new Map((await list()).rows.map(({ name, queueId }) => [name, queueId]))
    assert.ok([ids.get('full'), ids.get('payments')].includes(oldestQueue))
    const reader = createLiveReader(world.engine, WINDOWS)
    const [live] = await reader.read([{ team: TEAM, before: null }])
    assert.deepEqual([live?.figures.startable, live?.figures.stopped], [3, 21])
    assert.equal(live?.figures.oldestStartable?.ageMs, 60_000)
    assert.ok(['full', 'payments'].includes(live.figures.oldestStartable.queue?.name ?? ''))
    // What is settled says the same.
    for (let passed = 0; passed < 4; passed += 1) await round()
    const settled = (await createStatisticsReader(world.engine).ofTeam(TEAM, minute * 60_000)).get(minute)
    assert.deepEqual([settled?.startable, settled?.stopped, settled?.oldestQueue], [3, 21, oldestQueue])
    await assertClean(world)
  })

  test('agrees with the count of one queue', async () => {
    await shop()
    const stats = createQueueStats(world.engine, WINDOWS)
    const { rows } = await list()
    const counted = await stats.count(rows.map(({ name }) => ({ team: TEAM, name })))
    assert.deepEqual(
      counted.map((entry) => entry?.split),
      rows.map(({ split }) => split),
    )
  })
})
