import assert from 'node:assert/strict'
import { createSecretKey, randomBytes } from 'node:crypto'
import { beforeEach, describe } from 'vitest'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import type { JobIntake } from '../../../../src/ports/jobs.ts'
import type { QueueStats, QueueRef } from '../../../../src/ports/queues.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import { shardOfQueue } from '../../../../src/redis/base/engine/engine.ts'
import { QUEUE } from '../../../../src/redis/base/layout/fields.ts'
import { createQueueStats } from '../../../../src/redis/jobs/queues/queue-stats.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { SecretBox } from '../../../../src/redis/base/secret-box.ts'
import { createSettingsCompiler } from '../../../../src/redis/control/compiler/settings-compiler.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import {
  assertClean,
  claimed,
  ended,
  openExecutor,
  pushAll,
  pushOne,
} from '../../../support/engine/model-executor.ts'
import { alerting } from '../../ledger/alerts/alert-stage.ts'
import { openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { AN_ACTOR } from '../../../support/principals.ts'
import { queuePages } from '../../../support/engine/lists/queue-pages.ts'

const BOX = new SecretBox(createSecretKey(randomBytes(32)))
const ONCE = { ...DEFAULT_QUEUE_SETTINGS, retryDelays: [1] }
const place = (name: string, team = 'default'): QueueRef => ({ team, name })
const many = (count: number) => Array.from({ length: count }, (_, i) => place(`queue ${i}`))

describe('the queueStats of queues', () => {
  let redis: TestRedis
  let world: World
  let intake: JobIntake
  let queueStats: QueueStats

  test.beforeAll(({ emptyRedis }) => {
    redis = emptyRedis
  })
  beforeEach(async () => {
    world = await openWorld(redis, { shards: 2 })
    intake = world.newIntake()
    queueStats = createQueueStats(world.engine)
    return () => world.close()
  })

  const compiler = () => createSettingsCompiler({ engine: world.engine, box: BOX, epoch: null })
  /** All that `page` gives, page by page. */
  const walk = async () => {
    const found: Array<QueueRef & { isPushed: boolean }> = []
    let cursor: string | null = null
    do {
      const page: Awaited<ReturnType<QueueStats['page']>> = await queueStats.page(cursor)
      found.push(...page.queues)
      cursor = page.cursor
    } while (cursor !== null)
    return found.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  }
  const sortedNames = (queues: readonly QueueRef[]) => queues.map(({ name }) => name).toSorted()

  test('counts what each queue holds, in the order asked, and null where there is none', async () => {
    await createQueueStore(world.engine).apply('default', 'dying', ONCE)
    await pushAll(intake, 2, { queue: 'dying' })
    const sources = await Promise.all([0, 1].map((shard) => openExecutor(world, 'e1', shard)))
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      for (const source of sources) {
        const works = await claimed(source, 64)
        if (works.length > 0) await source.finish(works.map((work) => ended(world, work, { failed: true })))
      }
      world.clock.advance(1_000)
      for (const { shard } of world.engine.shards) await createShardMaintenance(world.engine, shard).promote()
    }
    await pushAll(intake, 5, { queue: 'busy' })
    await pushAll(intake, 3, { queue: 'busy', start: { delaySeconds: 30 } })
    for (const source of sources) await claimed(source, 2)
    await createQueueStore(world.engine).apply('default', 'idle', DEFAULT_QUEUE_SETTINGS)
    const places = [place('idle'), place('unknown'), place('dying'), place('busy'), place('busy', 'others')]
    const [idle, unknown, dying, busy, others] = await queueStats.count(places)
    assert.deepEqual([unknown, others], [null, null])
    const none = { pending: 0, delayed: 0, processing: 0, dead: 0 }
    assert.deepEqual(idle?.counts, none)
    assert.equal(idle?.oldestReadyMs, null)
    assert.deepEqual(dying?.counts, { ...none, dead: 2 })
    assert.deepEqual(busy?.counts, { pending: 3, delayed: 3, processing: 2, dead: 0 })
    for (const entry of [idle, dying, busy]) {
      const queue = await createQueueStore(world.engine).getByName('default', entry?.name ?? '')
      assert.deepEqual([queue?.queueId, queue?.counts], [entry?.queueId, entry?.counts])
    }
  })

  test('tells how long the oldest ready job has been due, past cancelled ones', async () => {
    const ids = await pushAll(intake, 3)
    world.clock.advance(4_000)
    await pushOne(intake)
    world.clock.advance(2_000)
    const oldest = async () => (await queueStats.count([place('emails')]))[0]?.oldestReadyMs
    assert.equal(await oldest(), 6_000)
    for (const id of ids) await createJobStore(world.engine).remove('default', id, AN_ACTOR, false)
    assert.equal(await oldest(), 2_000)
    assert.equal((await queueStats.count([place('emails')]))[0]?.counts.pending, 1)
  })

  test('knows a failure from the step that ends the chain, with alerts or without, and no attempt that is retried', async () => {
    const { shard } = shardOfQueue(world.engine, 'default', 'emails')
    const source = await openExecutor(world, 'e1', shard)
    const failWith = async (change: Parameters<typeof alerting>[2]) => {
      await pushOne(intake)
      const [work] = await claimed(source, 1)
      await source.finish([alerting(world, work, change)])
      return (await queueStats.count([place('emails')]))[0]?.lastFailure
    }
    assert.equal(await failWith({}), null)
    for (const alertsEnabled of [false, true]) {
      world.clock.advance(1_000)
      const atMs = world.clock.wallMs
      assert.deepEqual(await failWith({ alertsEnabled, retryDelays: [] }), {
        atMs,
        ageMs: 0,
        reason: 'http_server_error',
      })
    }
  })

  test('tells when and why a failure was last raised, of an idle queue too', async () => {
    await pushOne(intake, { queue: 'busy' })
    await createQueueStore(world.engine).apply('default', 'idle', DEFAULT_QUEUE_SETTINGS)
    const read = async () => {
      const entries = await queueStats.count([place('idle'), place('busy')])
      return entries.map((entry) => entry?.lastFailure)
    }
    assert.deepEqual(await read(), [null, null])
    const atMs = world.clock.wallMs - 5_000
    const note = async (queue: string, text: string): Promise<void> => {
      const keys = shardOfQueue(world.engine, 'default', queue)
      const localId = String(await redis.client.hget(keys.queueIds, `default/${queue}`))
      await redis.client.hset(keys.queueKey('meta', localId), QUEUE.lastFailure, text)
    }
    await note('idle', `${atMs}|timeout`)
    await note('busy', `${atMs}|dns_error`)
    assert.deepEqual(await read(), [
      { atMs, ageMs: 5_000, reason: 'timeout' },
      { atMs, ageMs: 5_000, reason: 'dns_error' },
    ])
    await assertClean(world)
    await note('idle', 'broken')
    assert.equal((await read())[0], null)
    await assert.rejects(assertClean(world), /holds l = broken/)
  })

  test('a name that was only reserved is no queue', async () => {
    world.faults.torn.set('enqueue', 1)
    await assert.rejects(pushOne(intake))
    assert.deepEqual(await queueStats.count([place('emails')]), [null])
    assert.deepEqual(await walk(), [])
    const store = createQueueStore(world.engine)
    assert.equal(await store.getByName('default', 'emails'), null)
    const list = await queuePages(world.engine)({ team: 'default', limit: 10, cursor: null })
    assert.deepEqual(list, { queues: [], nextCursor: null })
  })

  test('takes a step for 250 queues, writes nothing, and runs in a Redis without room', async () => {
    const places = many(600)
    await Promise.all(places.map(({ name }) => pushOne(intake, { queue: name })))
    await redis.client.config('SET', 'maxmemory', '1')
    await redis.client.config('RESETSTAT')
    let steps = 0
    world.faults.after = () => void (steps += 1)
    try {
      const entries = await queueStats.count(places)
      assert.ok(entries.every((entry, i) => entry?.name === places[i]?.name && entry?.counts.pending === 1))
    } finally {
      await redis.client.config('SET', 'maxmemory', '0')
    }
    assert.ok(steps >= 3 && steps <= 4, `${steps} steps`)
    assert.doesNotMatch(await redis.client.info('commandstats'), /cmdstat_(h?set|zadd|hincrby|del):/)
  })

  test('a queue is pushed until a resource takes it over, and again when it was deleted', async () => {
    for (const queue of ['one', 'two', 'three']) await pushOne(intake, { queue })
    await compiler().applyQueue('default', 'four', ONCE)
    const names = async () => sortedNames((await queueStats.pushed(10)).queues)
    assert.deepEqual(await names(), ['one', 'three', 'two'])
    await compiler().applyQueue('default', 'two', ONCE)
    assert.deepEqual(await names(), ['one', 'three'])
    await compiler().removeQueue('default', 'two')
    await createQueueStore(world.engine).remove('default', 'three')
    assert.deepEqual(await names(), ['one'])
    await pushOne(world.newIntake(), { queue: 'two' })
    assert.deepEqual(await names(), ['one', 'two'])
    // An edit past any resource leaves it pushed.
    await createQueueStore(world.engine).apply('default', 'one', ONCE)
    assert.deepEqual(await names(), ['one', 'two'])
    await assertClean(world)
  })

  test('of many pushed queues each comes in its turn', async () => {
    const places = many(1_500)
    await Promise.all(places.map(({ name }) => pushOne(intake, { queue: name })))
    const seen = new Set<string>()
    for (let looks = 0; looks < 500 && seen.size < places.length; looks += 1) {
      const { queues, isMore } = await queueStats.pushed(100)
      assert.ok(queues.length <= 100)
      assert.ok(isMore)
      for (const { name } of queues) seen.add(name)
    }
    assert.equal(seen.size, places.length)
    const all = await queueStats.pushed(1_500)
    assert.deepEqual([all.queues.length, all.isMore], [1_500, false])
    for (const { name } of places) await compiler().applyQueue('default', name, ONCE)
    assert.deepEqual(await queueStats.pushed(100), { queues: [], isMore: false })
    await assertClean(world)
  })

  test('pages lead through every queue and say which are pushed', async () => {
    const places = many(1_500)
    await Promise.all(places.map(({ name }) => pushOne(intake, { queue: name })))
    for (const { name } of places.slice(0, 40)) await compiler().applyQueue('default', name, ONCE)
    const found = await walk()
    assert.deepEqual([...new Set(sortedNames(found))], sortedNames(places))
    const compiled = found.filter(({ isPushed }) => !isPushed)
    assert.deepEqual([...new Set(sortedNames(compiled))], sortedNames(places.slice(0, 40)))
  })

  test('a queue from before pushes were noted counts as pushed, until a resource takes it over', async () => {
    await pushOne(intake)
    for (const { pushedBuckets: pushed, pushedBucket } of world.engine.shards)
      await redis.client.del(pushed, pushedBucket('1'))
    assert.deepEqual(await walk(), [{ ...place('emails'), isPushed: true }])
    await compiler().applyQueue('default', 'emails', ONCE)
    assert.deepEqual(await walk(), [{ ...place('emails'), isPushed: false }])
    await assertClean(world)
  })

  /** Of all keys and of the table of keys. What the server holds beside them changes from moment to moment. */
  async function keyBytes(): Promise<number> {
    const keys = await redis.client.keys('*')
    const sizes = await Promise.all(keys.map((key) => redis.client.memory('USAGE', key, 'SAMPLES', 0)))
    const stats = await redis.client.memory('STATS')
    const [, table = 0] = (stats[stats.indexOf('db.0') + 1] ?? []) as number[]
    return sizes.reduce<number>((sum, bytes) => sum + Number(bytes), table)
  }

  test('an idle queue that a push has made takes at most 420 bytes', async () => {
    const start = { delaySeconds: 30 }
    const makeIdle = async (names: readonly string[]): Promise<void> => {
      const ids = await Promise.all(names.map((queue) => pushOne(intake, { queue, start })))
      await Promise.all(ids.map((id) => createJobStore(world.engine).remove('default', id, AN_ACTOR, false)))
      // What was cancelled is in the audit log, which is bounded by itself.
      await redis.client.del(...(await redis.client.keys('*:dau*:*')))
    }
    const count = 5_000
    const before = await keyBytes()
    await makeIdle(many(count).map(({ name }) => name))
    const bytes = ((await keyBytes()) - before) / count
    assert.ok(bytes <= 420, `${bytes} bytes`)
  })
})
