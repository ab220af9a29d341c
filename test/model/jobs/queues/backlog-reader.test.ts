import assert from 'node:assert/strict'
import { beforeEach, describe } from 'vitest'
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from '../../../../src/domain/jobs/queue-settings.ts'
import type { Backlog } from '../../../../src/ports/queues.ts'
import type { JobIntake } from '../../../../src/ports/jobs.ts'
import { createBacklogReader } from '../../../../src/redis/jobs/queues/backlog-reader.ts'
import { executorIdOf } from '../../../../src/redis/base/layout/executor-id.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import { createCronStore } from '../../../../src/redis/crons/cron-store.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { cronSettings } from '../../../support/engine/cron-settings.ts'
import { claimed, ended, openExecutor, pushAll, pushOne } from '../../../support/engine/model-executor.ts'
import { createFakeWindows } from '../../../support/engine/fake-windows.ts'
import { newJob, openEngine } from '../../../support/engine/engine.ts'
import { openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'

const HORIZON_MS = 20_000
const NOTHING: Backlog = {
  ready: 0,
  inFlight: 0,
  usable: 0,
  dueSoon: 0,
  nextDueInMs: null,
  oldestReadyMs: null,
  held: new Map(),
}

describe('the backlog', () => {
  let redis: TestRedis
  let world: World
  let intake: JobIntake

  test.beforeAll(({ emptyRedis }) => {
    redis = emptyRedis
  })
  beforeEach(async () => {
    world = await openWorld(redis, { shards: 2 })
    intake = world.newIntake()
    return () => world.close()
  })

  const read = () => createBacklogReader(world.engine).read(HORIZON_MS)
  const apply = (name: string, change: Partial<QueueSettings>) =>
    createQueueStore(world.engine).apply('default', name, { ...DEFAULT_QUEUE_SETTINGS, ...change })
  const openAll = (id: string) =>
    Promise.all(world.engine.shards.map(({ shard }) => openExecutor(world, id, shard)))

  test('of an installation at rest costs a few commands, however many queues there are', async () => {
    for (let i = 0; i < 300; i += 1) await apply(`queue ${i}`, {})
    await read()
    await redis.client.config('RESETSTAT')
    assert.deepEqual(await read(), NOTHING)
    const stats = await redis.client.info('commandstats')
    const calls = [...stats.matchAll(/^cmdstat_(?!config|info)\S+:calls=(\d+)/gm)].map((found) =>
      Number(found[1]),
    )
    assert.ok(calls.reduce((sum, each) => sum + each, 0) <= 13 * world.engine.shards.length, stats)
  })

  test('has no jobs that a window holds, which would ask for executors in vain', async () => {
    const windows = createFakeWindows()
    const reader = createBacklogReader(world.engine, windows)
    await pushAll(intake, 5, { queue: 'held' })
    await pushAll(intake, 3, { queue: 'free' })
    for (let i = 0; i < 4; i += 1) await pushAll(intake, 2, { team: 'resting', queue: `queue-${i}` })
    assert.equal((await reader.read(HORIZON_MS)).ready, 16)
    windows.hold('default', { kind: 'queue', name: 'held' })
    windows.hold('resting', null)
    world.clock.advance(60_000)
    const { ready, usable } = await reader.read(HORIZON_MS)
    assert.deepEqual({ ready, usable }, { ready: 3, usable: 3 })
    windows.hold('default', null)
    assert.deepEqual(await reader.read(HORIZON_MS), NOTHING)
    windows.clear()
    assert.equal((await reader.read(HORIZON_MS)).ready, 16)
  })

  test('is read through the steps as the product runs them', async () => {
    const product = await openEngine(redis.url, { shards: 2 })
    await product.intake.push(newJob())
    const { ready, usable } = await createBacklogReader(product.engine).read(HORIZON_MS)
    product.close()
    assert.deepEqual([ready, usable], [1, 1])
  })

  test('leaves out what a limit or a pause holds back', async () => {
    await apply('limited', { maxParallelism: 3 })
    await apply('paused', { isActive: false })
    await pushAll(intake, 10, { queue: 'limited' })
    await pushAll(intake, 10, { queue: 'paused' })
    await pushAll(intake, 10, { queue: 'free' })
    const backlog = await read()
    assert.deepEqual([backlog.ready, backlog.usable, backlog.inFlight], [20, 13, 0])
    for (const source of await openAll('e1')) await claimed(source, 64)
    const later = await read()
    assert.deepEqual([later.ready, later.usable, later.inFlight], [0, 13, 13])
  })

  test('counts of a queue with a rate what it lets begin now, and wants an executor by its next begin', async () => {
    await apply('partner', { rateLimit: { limit: 1, periodSeconds: 10 } })
    await pushAll(intake, 100, { queue: 'partner' })
    const { ready, usable } = await read()
    assert.deepEqual({ ready, usable }, { ready: 100, usable: 1 })
    for (const { shard } of world.engine.shards) await claimed(await openExecutor(world, 'e1', shard), 64)
    const throttled = await read()
    assert.deepEqual([throttled.ready, throttled.dueSoon, throttled.nextDueInMs], [0, 1, 10_100])
  })

  test('leaves out what a quota of calls in flight holds back', async () => {
    const within = () => createBacklogReader(world.engine).read(HORIZON_MS, quotaOf)
    const quotaOf = (team: string) => (team === 'bounded' ? 8 : team === 'shut' ? 0 : null)
    const sources = await openAll('e1')
    for (const queue of ['a', 'b', 'c', 'd', 'e']) await pushAll(intake, 4, { team: 'bounded', queue })
    const some = await within()
    assert.deepEqual([some.ready, some.usable], [20, 8])
    assert.deepEqual((await read()).usable, 20)
    for (const source of sources) await claimed(source, 4)
    world.clock.advance(40_000)
    const full = await within()
    assert.deepEqual([full.ready, full.usable, full.inFlight, full.oldestReadyMs], [0, 8, 8, null])
    await pushAll(intake, 3, { team: 'shut' })
    await pushAll(intake, 5, { team: 'free' })
    world.clock.advance(1_000)
    const others = await within()
    assert.deepEqual([others.ready, others.usable, others.oldestReadyMs], [5, 13, 1_000])
    const roomier = await createBacklogReader(world.engine).read(HORIZON_MS, (team) =>
      team === 'bounded' ? 10 : null,
    )
    assert.deepEqual([roomier.ready, roomier.usable], [20, 18])
  })

  test('counts what is in flight by the executor’s name, over shards and sessions', async () => {
    for (let i = 0; i < 8; i += 1) await pushOne(intake, { queue: `queue ${i}` })
    const pods = ['punctual-executor-7d9-abcde', 'punctual-executor-7d9-fghij']
    for (const [i, name] of [pods[0], pods[1], pods[0]].entries()) {
      const sources = await openAll(executorIdOf(name ?? '', { nonce: `nonce${i}`, slots: 32 }))
      for (const source of sources) await claimed(source, i === 2 ? 64 : 1)
    }
    const { held, inFlight } = await read()
    assert.equal(inFlight, 8)
    assert.deepEqual(
      held,
      new Map([
        [pods[0], 6],
        [pods[1], 2],
      ]),
    )
  })

  test('counts what is due within the horizon, and says when the next is', async () => {
    await pushOne(intake, { start: { delaySeconds: 15 } })
    await pushOne(intake, { start: { delaySeconds: 25 } })
    const soon = await read()
    assert.deepEqual([soon.dueSoon, soon.nextDueInMs, soon.ready], [1, 15_000, 0])
    world.clock.advance(16_000)
    const overdue = await read()
    assert.deepEqual([overdue.dueSoon, overdue.nextDueInMs], [2, 0])
  })

  test('a job far ahead is seen before its minute begins, though nobody pours it', async () => {
    await pushAll(intake, 2, { start: { delaySeconds: 3_600 } })
    const far = await read()
    assert.equal(far.dueSoon, 0)
    const dueInMs = 3_600_000
    assert.ok(far.nextDueInMs !== null && far.nextDueInMs <= dueInMs && far.nextDueInMs > dueInMs - 60_000)
    world.clock.advance(far.nextDueInMs - HORIZON_MS)
    const near = await read()
    assert.deepEqual([near.dueSoon, near.nextDueInMs], [2, HORIZON_MS])
    world.clock.advance(-1)
    assert.equal((await read()).dueSoon, 0)
  })

  test('sees ticks come, of crons straight and through a queue, and not those of paused ones', async () => {
    const crons = createCronStore(world.engine)
    const ticks: number[] = []
    for (const [name, change] of Object.entries({ straight: {}, queued: { queue: 'one' } })) {
      const cronExpression = '0 3 * * *'
      const { nextRunAtMs } = await crons.apply('default', name, cronSettings({ ...change, cronExpression }))
      ticks.push(nextRunAtMs ?? 0)
    }
    await crons.apply('default', 'paused', cronSettings({ isActive: false }))
    const far = await read()
    assert.equal(far.dueSoon, 0)
    assert.equal(far.nextDueInMs, (ticks[0] ?? 0) - world.clock.wallMs)
    world.clock.advance((far.nextDueInMs ?? 0) - HORIZON_MS)
    const near = await read()
    assert.deepEqual([near.dueSoon, near.nextDueInMs], [2, HORIZON_MS])
    world.clock.advance(2 * HORIZON_MS)
    const overdue = await read()
    assert.deepEqual([overdue.dueSoon, overdue.nextDueInMs, overdue.ready], [2, 0, 0])
  })

  test.each([
    ['notifications', 'notices'],
    ['bulks', 'bulksDue'],
  ] as const)('sees %s come, which only executors work off', async (_what, key) => {
    const [shard] = world.engine.shards
    const dueMs = world.clock.wallMs + 300_000
    await redis.client.zadd(shard?.[key] ?? '', String(dueMs), 'default/ops')
    const far = await read()
    assert.deepEqual([far.dueSoon, far.nextDueInMs], [0, 300_000])
    world.clock.advance(300_000 - HORIZON_MS)
    const near = await read()
    assert.deepEqual([near.dueSoon, near.nextDueInMs], [1, HORIZON_MS])
  })

  test('callbacks wait for executors too', async () => {
    await pushAll(intake, 1, { request: { callbackUrl: 'http://target.test/' } })
    for (const source of await openAll('e1')) {
      const works = await claimed(source, 1)
      if (works.length > 0) await source.finish(works.map((work) => ended(world, work)))
    }
    const backlog = await read()
    assert.deepEqual([backlog.ready, backlog.usable, backlog.inFlight], [1, 1, 0])
  })

  test('tells how long the oldest ready job has been due', async () => {
    await pushOne(intake, { queue: 'one', start: { delaySeconds: 5 } })
    world.clock.advance(9_000)
    for (const { shard } of world.engine.shards) await createShardMaintenance(world.engine, shard).promote()
    await pushOne(intake, { queue: 'two' })
    world.clock.advance(1_000)
    assert.equal((await read()).oldestReadyMs, 5_000)
  })

  test('takes what it does not look at to be like what it does', async () => {
    world.close()
    world = await openWorld(redis, { shards: 1 })
    intake = world.newIntake()
    await apply('queue 0', { maxParallelism: 1 })
    for (let i = 0; i < 1_000; i += 1) await pushAll(intake, i % 2 === 0 ? 3 : 1, { queue: `queue ${i}` })
    const { ready, usable } = await read()
    assert.ok(Math.abs(ready - 2_000) <= 20, `${ready} ready`)
    assert.ok(usable <= ready && usable >= ready - 20, `${usable} usable`)
  })

  test('sees each team, however many queues others have before its own', async () => {
    world.close()
    world = await openWorld(redis, { shards: 1 })
    intake = world.newIntake()
    for (let i = 0; i < 1_000; i += 1) await pushOne(intake, { team: 'first', queue: `queue ${i}` })
    await pushAll(intake, 5_000, { team: 'later', queue: 'one' })
    const { ready, usable } = await read()
    assert.deepEqual([ready, usable], [6_000, 6_000])
  })

  test('sees those who can run behind many teams that have nothing left to run', async () => {
    world.close()
    world = await openWorld(redis, { shards: 1 })
    intake = world.newIntake()
    await pushAll(intake, 70, { team: 'busy' })
    const { teams } = shardKeys(world.engine, 0)
    for (let u = 2; u < 2_000; u += 1) await redis.client.zadd(teams, -u, String(u))
    const { ready, usable } = await read()
    assert.deepEqual([ready, usable], [70, 70])
    // Of a piece of the ring with queues of several teams no team's quota is taken off.
    await pushAll(intake, 10, { team: 'other' })
    const mixed = await createBacklogReader(world.engine).read(HORIZON_MS, () => 0)
    assert.equal(mixed.ready, 80)
  })
})
