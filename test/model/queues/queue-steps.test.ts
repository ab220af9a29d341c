import assert from 'node:assert/strict'
import { afterAll, beforeAll, beforeEach, describe, test } from 'vitest'
import { StorageFullError } from '../../../src/domain/errors.ts'
import type { JobListQuery, ClaimedWork, JobIntake } from '../../../src/ports/jobs.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../src/domain/jobs/queue-settings.ts'
import { DEFAULT_RETENTION, shardKeys } from '../../../src/redis/client/engine.ts'
import { formatJobCursor } from '../../../src/redis/jobs/job-cursor.ts'
import { createJobStore } from '../../../src/redis/jobs/job-store.ts'
import { callbackQueueOf } from '../../../src/redis/layout/keys.ts'
import { createQueueStore } from '../../../src/redis/queues/queue-store.ts'
import { evictCalls } from '../../../src/redis/retention/call-records.ts'
import { purgeDeadLetters } from '../../../src/redis/retention/dead-letters.ts'
import { trimFinished } from '../../../src/redis/retention/finished-chains.ts'
import { createShardMaintenance } from '../../../src/redis/maintenance/upkeep.ts'
import { newJob } from '../../support/engine/engine.ts'
import {
  assertClean,
  callRecord,
  claimed,
  ended,
  openExecutor,
  pushAll,
  pushOne,
} from '../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../support/engine/model-world.ts'
import { startRedis, type TestRedis } from '../../support/servers/redis-server.ts'

const ONCE = { ...DEFAULT_QUEUE_SETTINGS, retriesEnabled: true, retryDelays: [1] }
const DAY_MS = 86_400_000

describe('queues, dead letters and retention', () => {
  let redis: TestRedis
  let world: World
  let intake: JobIntake

  beforeAll(async () => {
    redis = await startRedis({ settings: ['--appendonly', 'no'] })
  })
  afterAll(() => redis.stop())
  beforeEach(async () => {
    world = await openWorld(redis, { shards: 1 })
    intake = world.newIntake()
    return () => world.close()
  })

  const shard = () => shardKeys(world.engine, 0)
  const sweepAll = async () => {
    const upkeep = createShardMaintenance(world.engine, 0)
    while ((await upkeep.sweep()).isMore);
  }
  /** Suspects that wait keep their slots. */
  const running = () => redis.client.zcount(shard().queue('1').inFlight, '-inf', '(9000000000000000')
  const beat = async (name = 'e1') => openExecutor(world, name)

  /** Lets `count` chains end as dead letters; answers their roots. */
  async function makeDeadLetters(count: number, payload: string | null = null): Promise<number[]> {
    await createQueueStore(world.engine).apply('default', 'emails', ONCE)
    const ids = await pushAll(intake, count, { request: { payload } })
    const source = await beat()
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      const works = await claimed(source, 64)
      assert.equal(works.length, count)
      await source.finish(works.map((work) => ended(world, work, { failed: true })))
      world.clock.advance(1000)
      await beat()
      await createShardMaintenance(world.engine, 0).promote()
    }
    assert.equal(await redis.client.zcard(shard().queue('1').deadLetters), count)
    return ids
  }

  async function makeFinished(count: number): Promise<number[]> {
    const ids = await pushAll(intake, count)
    const source = await beat()
    for (const work of await claimed(source, 64)) await source.finish([ended(world, work)])
    return ids
  }

  /** Microseconds Redis spent on one removal of the queue. */
  async function removeTimed(): Promise<number> {
    await redis.client.config('RESETSTAT')
    assert.equal(await createQueueStore(world.engine).remove('default', 'emails'), 'removed')
    const stats = await redis.client.info('commandstats')
    const found = /cmdstat_eval(?:sha)?:calls=1,usec=(\d+)/.exec(stats)
    assert.ok(found, stats)
    return Number(found[1])
  }

  test('a queue of 100,000 jobs is deleted in the time of a small one, and sweep forgets the rest', async () => {
    await pushOne(intake)
    await removeTimed()
    await pushOne(intake)
    const few = await removeTimed()
    await sweepAll()
    for (let i = 0; i < 10; i += 1) {
      await pushAll(intake, 10_000, i % 2 === 0 ? {} : { start: { delaySeconds: 30 } })
    }
    const many = await removeTimed()
    assert.ok(many < few * 20 + 2_000, `${many} µs for 100,000 jobs, ${few} µs for one`)
    await sweepAll()
    await createShardMaintenance(world.engine, 0).promote()
    await assertClean(world)
    assert.deepEqual(await redis.client.keys('*ix:*'), [])
    assert.deepEqual(await redis.client.keys('*trash*'), [])
    assert.equal(await redis.client.exists(shard().settings, shard().settingsUses, shard().retentionDue), 0)
  })

  test('a deleted queue leaves nothing of any kind behind', async () => {
    await makeDeadLetters(2, JSON.stringify('x'.repeat(5000)))
    await pushAll(intake, 6, { request: { payload: JSON.stringify('y'.repeat(5000)) } })
    await pushOne(intake, { start: { delaySeconds: 500 } })
    const source = await beat()
    const works = await claimed(source, 4)
    const ends = works.slice(0, 3).map((work, i) => {
      const call = work.kind === 'job' ? callRecord(work, world.clock.wallMs, 50) : undefined
      return ended(world, work, { failed: i > 0, ...(call === undefined ? {} : { call }) })
    })
    await source.finish(ends)
    await assertClean(world)
    await createQueueStore(world.engine).remove('default', 'emails')
    await assertClean(world)
    await sweepAll()
    await source.leave()
    world.clock.advance(600_000)
    await createShardMaintenance(world.engine, 0).promote()
    await createShardMaintenance(world.engine, 0).promote()
    await assertClean(world)
    const kept = /:(clk|seq|qseq|tok|use|tu|mark|tn|teams|meta)$/
    assert.deepEqual(
      (await redis.client.keys('*')).filter((key) => !kept.test(key)),
      [],
    )
  })

  test('a replay keeps the job, takes the settings of now, and is done once', async () => {
    const payload = JSON.stringify('x'.repeat(5000))
    const [root] = await makeDeadLetters(1, payload)
    await createQueueStore(world.engine).apply('default', 'emails', { ...ONCE, timeoutSeconds: 77 })
    world.faults.resent.add('replay')
    const answer = await createJobStore(world.engine).replay('default', root as number)
    assert.equal(answer.status, 'replayed')
    await assertClean(world)
    const source = await beat()
    const works = await claimed(source, 64)
    assert.equal(works.length, 1)
    const [work] = works
    assert.ok(work?.kind === 'job')
    assert.equal(work.request.payload, payload)
    assert.equal(work.settings.timeoutSeconds, 77)
    assert.equal(work.attempt, 1)
  })

  test('dead letters go at their time, and at once when purged', async () => {
    const roots = await makeDeadLetters(3)
    assert.equal(
      await purgeDeadLetters(world.engine, shard(), {
        localId: '1',
        roots: [String(roots[0])],
        onlyDue: true,
      }),
      0,
    )
    assert.equal(
      await purgeDeadLetters(world.engine, shard(), {
        localId: '1',
        roots: [String(roots[0])],
        onlyDue: false,
      }),
      1,
    )
    await assertClean(world)
    world.clock.advance(14 * DAY_MS - 2_000)
    await beat()
    await sweepAll()
    assert.equal(await redis.client.zcard(shard().queue('1').deadLetters), 2)
    world.clock.advance(2_000)
    await beat()
    await sweepAll()
    assert.equal(await redis.client.zcard(shard().queue('1').deadLetters), 0)
    assert.equal(await redis.client.exists(shard().retentionDue), 0)
    await assertClean(world)
  })

  test('a slot past its hard deadline is freed while its holder lives', async () => {
    await createQueueStore(world.engine).apply('default', 'emails', {
      ...DEFAULT_QUEUE_SETTINGS,
      timeoutSeconds: 1,
      maxParallelism: 1,
    })
    await pushAll(intake, 2)
    const source = await beat()
    const [work] = await claimed(source, 1)
    for (let i = 0; i < 3; i += 1) {
      await sweepAll()
      assert.equal(await running(), 1)
      world.clock.advance(9_000)
      await source.beat(false)
    }
    world.clock.advance(4_000)
    await source.beat(false)
    await sweepAll()
    await assertClean(world)
    assert.equal(await running(), 0)
    assert.deepEqual(await source.finish([ended(world, work as ClaimedWork)]), ['stale'])
    const [again] = await claimed(source, 1)
    assert.equal(again?.jobId, work?.jobId)
  })

  test('a jump of the clock frees no slot before its longest call must be over', async () => {
    await createQueueStore(world.engine).apply('default', 'emails', {
      ...DEFAULT_QUEUE_SETTINGS,
      timeoutSeconds: 1,
      maxParallelism: 1,
    })
    await pushAll(intake, 2)
    const source = await beat()
    await claimed(source, 1)
    world.clock.advance(3_600_000)
    for (let elapsedMs = 0; elapsedMs < 330_000; elapsedMs += 9_000) {
      await source.beat(false)
      await sweepAll()
      assert.equal(await running(), 1, `freed ${elapsedMs} ms after the jump`)
      world.clock.advance(9_000)
    }
    await source.beat(false)
    await sweepAll()
    assert.equal(await running(), 0)
    await assertClean(world)
  })

  test('a slot is judged by the time of Redis, not by the estimate of who sweeps', async () => {
    await pushOne(intake)
    const source = await beat()
    const [work] = await claimed(source, 1)
    world.engine.runner.noteRedisTime(0, world.clock.wallMs + 3_600_000)
    await createShardMaintenance(world.engine, 0).sweep()
    assert.deepEqual(await source.finish([ended(world, work as ClaimedWork)]), ['done'])
    await assertClean(world)
  })

  test('sweep mends the ring where lost writes left it wrong, for callbacks too', async () => {
    await pushOne(intake, { request: { ...newJob().request, callbackUrl: 'http://target.test/' } })
    const source = await beat()
    const [work] = await claimed(source, 1)
    await source.finish([ended(world, work as ClaimedWork)])
    await pushOne(intake)
    await redis.client.del(shard().ring)
    await sweepAll()
    assert.equal((await claimed(source, 64)).length, 2)
    await redis.client.zadd(shard().ring, 1, callbackQueueOf('1'), 1, '1')
    await sweepAll()
    await assertClean(world)
  })

  test('a chain or a call that cannot be read keeps no others from going', async () => {
    const source = await beat()
    const roots = await pushAll(intake, 3)
    for (const work of await claimed(source, 64)) {
      assert.ok(work.kind === 'job')
      const call = callRecord(work, world.clock.wallMs, 1)
      await source.finish([ended(world, work, { failed: false, call })])
    }
    const { history: h, summaries: d, callRecords: c } = shard().queue('1')
    const bad = String(roots[0])
    for (const key of [d, c]) await redis.client.hset(key, bad, '[')
    world.clock.advance(31_000)
    const trimmed = () => trimFinished(world.engine, shard(), '1')
    assert.equal(await trimmed(), 1)
    assert.equal(await trimmed(), 0)
    assert.deepEqual(await redis.client.lrange(h, 0, -1), roots.slice(1).reverse().map(String))
    world.clock.advance(DEFAULT_RETENTION.callRecordsMs)
    await evictCalls(world.engine, shard())
    assert.equal(await redis.client.exists(c), 0)
  })

  test('old call records are evicted, and the oldest ones when the budget is nearly used up', async () => {
    world.close()
    world = await openWorld(redis, { shards: 1, retention: { callRecordsBytesMax: 10_000 } })
    intake = world.newIntake()
    const source = await beat()
    const finishOne = async (queue: string) => {
      await pushOne(intake, { queue })
      const [work] = await claimed(source, 1)
      assert.ok(work?.kind === 'job')
      await source.finish([
        ended(world, work, { failed: false, call: callRecord(work, world.clock.wallMs, 1000) }),
      ])
    }
    await finishOne('old')
    world.clock.advance(5_000)
    for (let i = 0; i < 3; i += 1) await finishOne('new')
    await sweepAll()
    const ids = await redis.client.hgetall(shard().queueIds)
    const kept = (queue: string) =>
      redis.client.hlen(shard().queue(ids[`default/${queue}`] ?? '').callRecords)
    assert.deepEqual([await kept('old'), await kept('new')], [0, 3])
    await assertClean(world)
    world.clock.advance(4 * DAY_MS)
    await beat()
    await sweepAll()
    assert.deepEqual([await kept('old'), await kept('new')], [0, 0])
    assert.equal(await redis.client.exists(shard().oldestCalls), 0)
    await assertClean(world)
  })

  /** Finished chains, a deleted queue's jobs, and a Redis without room for more. */
  async function fill(): Promise<void> {
    const source = await beat()
    for (let i = 0; i < 20; i += 1) {
      await pushAll(intake, 100, { queue: 'old' })
      for (let works = await claimed(source, 64); works.length > 0; works = await claimed(source, 64)) {
        await source.finish(works.map((work) => ended(world, work)))
      }
    }
    await pushAll(intake, 100, { start: { delaySeconds: 30 * DAY_MS } })
    assert.equal(await createQueueStore(world.engine).remove('default', 'emails'), 'removed')
    const used = Number(/used_memory:(\d+)/.exec(await redis.client.info('memory'))?.[1])
    await redis.client.config('SET', 'maxmemory', String(used - 10_000))
    await assert.rejects(pushOne(intake, { queue: 'new' }), StorageFullError)
  }

  const makeRoom = () => redis.client.config('SET', 'maxmemory', '0')

  test('a full Redis has room again once what it holds is past its time', async () => {
    try {
      await fill()
      world.clock.advance(9 * DAY_MS)
      await beat()
      await sweepAll()
      const { retentionDue: gc, queueIds: names } = shard()
      const [old = ''] = await redis.client.hvals(names)
      assert.equal(await redis.client.exists(gc, shard().queue(old).history, shard().queue(old).summaries), 0)
      assert.deepEqual(await redis.client.keys('*trash*'), [])
      await pushOne(intake, { queue: 'new' })
      await assertClean(world)
    } finally {
      await makeRoom()
    }
  })

  test('a part of a sweep that fails stops none of the others', async () => {
    try {
      await fill()
      await makeRoom()
      world.clock.advance(9 * DAY_MS)
      await beat()
      const [old = ''] = await redis.client.hvals(shard().queueIds)
      // The first part has to write, and is refused; of the queues, the first to be looked at cannot be read.
      await redis.client.del(shard().created)
      await redis.client.zadd(shard().retentionDue, 1, '99')
      await redis.client.set(shard().queue('99').deadLetters, 'no sorted set')
      await redis.client.config('SET', 'maxmemory', '1mb')
      const upkeep = createShardMaintenance(world.engine, 0)
      await assert.rejects(upkeep.sweep(), StorageFullError)
      assert.deepEqual(await redis.client.keys('*trash*'), [])
      assert.ok((await redis.client.llen(shard().queue(old).history)) < 2_000)
      await makeRoom()
      await assert.rejects(upkeep.sweep(), /WRONGTYPE/)
      assert.equal(await redis.client.get(shard().created), '1')
    } finally {
      await makeRoom()
    }
  })

  test.each(['dead', 'finished'] as const)(
    'a place past the end of the %s jobs is their end',
    async (section) => {
      const roots = section === 'dead' ? await makeDeadLetters(3) : await makeFinished(3)
      let reads = 0
      const { runner } = world.engine
      const read: typeof runner.read = (ask) => {
        reads += 1
        return runner.read(ask)
      }
      const store = createJobStore({ ...world.engine, runner: { ...runner, read } })
      const filter = { team: 'default', queue: 'emails', status: null }
      const list = (left: number) => {
        const position = { queue: 'emails', section, spot: { kind: 'left', left } } as const
        return store.list({ ...filter, limit: 2, cursor: formatJobCursor(filter, position) })
      }
      for (const position of [3, 4, 1_000_000]) {
        reads = 0
        const page = await list(position)
        assert.ok(page !== 'bad_cursor')
        assert.deepEqual(
          page.jobs.map(({ jobId }) => jobId),
          roots.slice(1).toReversed(),
        )
        assert.ok(reads < 10)
      }
    },
  )

  test('a list shows what it can of jobs that cannot be read', async () => {
    const [bad = 0, dead = 0] = await makeDeadLetters(2)
    const [badEnded = 0, finished = 0] = await makeFinished(2)
    const [badOpen = 0, open = 0] = await pushAll(intake, 2)
    const { records: b, summaries: d, deadLetterRecords: xb } = shard().queue('1')
    await redis.client.hset(xb, String(bad), 'odd')
    await redis.client.hset(d, String(badEnded), '["s",')
    await redis.client.hset(b, String(badOpen), 'odd')
    const list = (status: JobListQuery['status']) =>
      createJobStore(world.engine).list({ team: 'default', queue: 'emails', status, limit: 10, cursor: null })
    for (const [status, ids] of [
      [null, [open, badOpen, bad, dead, finished]],
      ['pending', [open]],
      ['dead_lettered', [bad, dead]],
      ['completed', [finished]],
    ] as const) {
      const page = await list(status)
      assert.ok(page !== 'bad_cursor')
      assert.deepEqual(new Set(page.jobs.map(({ jobId }) => jobId)), new Set(ids))
    }
  })

  test('a shard that lost its data gets its mark again, in an emptied Redis nothing is written', async () => {
    const { created: mark } = shard()
    const upkeep = createShardMaintenance(world.engine, 0)
    await redis.client.del(mark)
    await upkeep.sweep()
    assert.equal(await redis.client.get(mark), '1')
    await redis.client.flushall()
    await upkeep.sweep()
    assert.deepEqual(await redis.client.keys('*'), [])
  })

  test('an executor whose jobs cannot be read keeps no other from being reaped', async () => {
    await pushAll(intake, 2)
    await claimed(await beat('e1'), 1)
    await claimed(await beat('e2'), 1)
    const upkeep = createShardMaintenance(world.engine, 0)
    for (let i = 0; i < 2; i += 1) {
      world.clock.advance(9_000)
      await upkeep.promote()
    }
    await redis.client.set(shard().heldJobs('e1'), 'no hash')
    await assert.rejects(upkeep.reap(), /WRONGTYPE/)
    assert.equal(await redis.client.zscore(shard().executors, 'e2'), null)
    assert.equal(await running(), 1)
  })
})
