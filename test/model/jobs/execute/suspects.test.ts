import assert from 'node:assert/strict'
import { afterAll, beforeEach, describe } from 'vitest'
import { LOST_LEASES_MAX, SUSPECTS_OF_ONE_TEAM_MAX } from '../../../../src/domain/limits.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import type { JobIntake, ClaimedWork, JobSource } from '../../../../src/ports/jobs.ts'
import type { RedisConnection } from '../../../../src/redis/base/client/connection.ts'
import { createBacklogReader } from '../../../../src/redis/jobs/queues/backlog-reader.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import { RedisJobSource } from '../../../../src/redis/jobs/execute/job-source.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import { createQueueStats } from '../../../../src/redis/jobs/queues/queue-stats.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { purgeDeadLetters } from '../../../../src/redis/ledger/retention/dead-letters.ts'
import { trimFinished } from '../../../../src/redis/jobs/history/finished-chains.ts'
import { SuspectCohort } from '../../../../src/redis/jobs/execute/claim/suspect-cohort.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { grantOf } from '../../../support/engine/claim-grant.ts'
import { assertClean, ended, pushAll } from '../../../support/engine/model-executor.ts'
import { openConnection, openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { AN_ACTOR } from '../../../support/principals.ts'

let redis: TestRedis
let connection: RedisConnection
let world: World
let intake: JobIntake
let names = 0

test.beforeAll(async ({ emptyRedis }) => {
  redis = emptyRedis
  connection = await openConnection(redis.url)
})
afterAll(() => connection.disconnect())

/** An executor with a source in each shard, in a test's hands. */
interface Hands {
  readonly sources: readonly JobSource[]
  /** What it holds, in the order in which it came. */
  readonly held: Array<{ source: JobSource; work: ClaimedWork }>
}

async function hands(calls: number): Promise<Hands> {
  const cohort = new SuspectCohort(calls)
  names += 1
  const sources = world.engine.shards.map(
    ({ shard }) => new RedisJobSource(world.engine, shard, `e${names}`, { cohort }),
  )
  for (const source of sources) assert.equal((await source.beat(true)).status, 'ok')
  return { sources, held: [] }
}

/** Claims until nothing more comes, up to `slots` jobs. */
async function fill(executor: Hands, slots: number): Promise<void> {
  for (let idle = 0; idle < 3; idle += 1) {
    for (const source of executor.sources) {
      const room = slots - executor.held.length
      if (room <= 0) return
      const answer = await source.claim(grantOf(Math.min(64, room)))
      assert.ok(answer.status === 'claimed')
      for (const work of answer.work) executor.held.push({ source, work })
      if (answer.work.length > 0) idle = -1
    }
    // A look for suspects is due again.
    world.clock.advance(300)
    for (const source of executor.sources) await source.beat(false)
  }
}

async function endAll(executor: Hands): Promise<void> {
  for (const { source, work } of executor.held.splice(0)) await source.finish([ended(world, work)])
}

/** The leases of all executors run out. */
async function loseExecutors(): Promise<void> {
  for (let i = 0; i < 2; i += 1) {
    world.clock.advance(8_600)
    for (const { shard } of world.engine.shards) await createShardMaintenance(world.engine, shard).promote()
  }
  for (const { shard } of world.engine.shards) await createShardMaintenance(world.engine, shard).reap()
}

async function reasonsOf(team: string, id: number): Promise<unknown[]> {
  const chain = await createJobStore(world.engine).get(team, id)
  return (chain?.attempts ?? []).map(({ failureReason }) => failureReason)
}

describe('one job that takes its executor down among 146 of two teams', () => {
  test.each([1, 3])('%i executors: it alone ends as executor_lost, the others run', async (executors) => {
    world = await openWorld(redis, { connection, shards: 2 })
    world.newQueues = { ...DEFAULT_QUEUE_SETTINGS, retriesEnabled: false }
    intake = world.newIntake()
    const [killer = 0, ...mine] = await pushAll(intake, 73, { team: 'a' })
    const others = await pushAll(intake, 73, { team: 'b', queue: 'other' })
    let deaths = 0
    for (let round = 0; (await createJobStore(world.engine).get('a', killer))?.end === null; round += 1) {
      assert.ok(round < 60, `it lives on after ${deaths} deaths`)
      const all = await Promise.all(Array.from({ length: executors }, () => hands(160)))
      let isDead = false
      // New jobs come meanwhile, and are beside it at each of its deaths.
      others.push(...(await pushAll(intake, 2, { team: 'b', queue: 'other' })))
      for (const executor of all) {
        await fill(executor, 160)
        if (executor.held.some(({ work }) => work.jobId === killer)) isDead = true
        else await endAll(executor)
      }
      if (!isDead) for (const executor of all) for (const source of executor.sources) await source.leave()
      if (!isDead) continue
      deaths += 1
      await loseExecutors()
      await assertClean(world)
    }
    assert.equal(deaths, LOST_LEASES_MAX)
    const last = await hands(1_000)
    for (let i = 0; i < 40; i += 1) {
      await fill(last, 1_000)
      await endAll(last)
    }
    assert.deepEqual(await reasonsOf('a', killer), ['executor_lost'])
    for (const id of mine) assert.deepEqual(await reasonsOf('a', id), [null])
    for (const id of others) assert.deepEqual(await reasonsOf('b', id), [null])
    await assertClean(world)
  })
})

describe('suspects', () => {
  beforeEach(async () => {
    world = await openWorld(redis, { connection, shards: 1 })
    intake = world.newIntake()
  })

  const keys = () => shardKeys(world.engine, 0)
  const suspects = () => redis.client.zcard(keys().suspects)
  const idsOf = (executor: Hands) => executor.held.map(({ work }) => work.jobId)

  /** Jobs that have lost so many executors, each of them at once. */
  async function makeSuspects(count: number, losses = 1): Promise<number[]> {
    const ids = await pushAll(intake, count)
    await fill(await hands(1_000), 1_000)
    await loseExecutors()
    await setLosses('1', losses)
    return ids
  }

  async function setLosses(queue: string, losses: number): Promise<void> {
    const { records: b } = keys().queue(queue)
    for (const [id, body] of Object.entries(await redis.client.hgetall(b))) {
      await redis.client.hset(b, id, `${body.slice(0, 14)}${losses}${body.slice(15)}`)
    }
  }

  test.each([
    [1, 40, 10],
    [1, 3, 1],
    [2, 40, SUSPECTS_OF_ONE_TEAM_MAX],
    [3, 40, 1],
    [4, 40, 1],
  ])('with %i losses, in an executor of %i calls: %i at once', async (losses, calls, most) => {
    await makeSuspects(12, losses)
    const executor = await hands(calls)
    await fill(executor, 100)
    assert.equal(executor.held.length, most)
    await fill(executor, 100)
    assert.equal(executor.held.length, most)
    await endAll(executor)
    await fill(executor, 100)
    assert.ok(executor.held.length > 0)
    await assertClean(world)
  })

  test('with two losses are of one team, and with different losses never together', async () => {
    const ids = await pushAll(intake, 2)
    const others = await pushAll(intake, 2, { team: 'b', queue: 'other' })
    const third = await pushAll(intake, 1, { team: 'b', queue: 'third' })
    await fill(await hands(1_000), 1_000)
    await loseExecutors()
    await setLosses('1', 2)
    await setLosses('2', 2)
    // In the order in which they came to wait.
    for (const [i, member] of [...ids, ...others, ...third].entries()) {
      const queue = i < 2 ? 1 : i < 4 ? 2 : 3
      await redis.client.zadd(keys().suspects, i, `${queue}|${member}`)
    }
    const executor = await hands(1_000)
    const first = await hands(1_000)
    await fill(executor, 100)
    assert.deepEqual(idsOf(executor), ids)
    await fill(first, 100)
    assert.deepEqual(idsOf(first), others)
    await endAll(executor)
    await endAll(first)
    await assertClean(world)
  })

  test('leave room to the other jobs of their queue, and keep the slots that they had', async () => {
    await createQueueStore(world.engine).apply('default', 'emails', {
      ...DEFAULT_QUEUE_SETTINGS,
      maxParallelism: 2,
    })
    const [one, two] = await pushAll(intake, 3)
    const dying = await hands(100)
    await fill(dying, 100)
    assert.deepEqual(idsOf(dying), [one, two])
    await loseExecutors()
    const executor = await hands(4)
    await fill(executor, 100)
    // The second waits for the first, and so does the third, whose slot it has.
    assert.deepEqual(idsOf(executor), [one])
    await endAll(executor)
    await fill(executor, 100)
    assert.equal(executor.held.length, 2)
    await endAll(executor)
    await assertClean(world)
  })

  test('of a queue that is paused, or whose limit was lowered, wait and hold up no others', async () => {
    await makeSuspects(3)
    const store = createQueueStore(world.engine)
    await store.apply('default', 'emails', { ...DEFAULT_QUEUE_SETTINGS, isActive: false })
    await pushAll(intake, 2, { queue: 'other' })
    await fill(await hands(1_000), 1_000)
    await loseExecutors()
    const executor = await hands(100)
    await fill(executor, 100)
    assert.equal(executor.held.length, 2)
    await endAll(executor)
    await store.apply('default', 'emails', { ...DEFAULT_QUEUE_SETTINGS, maxParallelism: 1 })
    await fill(executor, 100)
    assert.equal(executor.held.length, 1)
    await assertClean(world)
  })

  test('are pending, keep executors there, and can be cancelled or removed with their queue', async () => {
    await createQueueStore(world.engine).apply('default', 'emails', {
      ...DEFAULT_QUEUE_SETTINGS,
      maxParallelism: 3,
    })
    const [id = 0] = await makeSuspects(3)
    const store = createJobStore(world.engine)
    assert.equal((await store.get('default', id))?.open?.status, 'pending')
    const [entry] = await createQueueStats(world.engine).count([{ team: 'default', name: 'emails' }])
    assert.deepEqual(entry?.counts, { pending: 3, delayed: 0, processing: 0, dead: 0 })
    const backlog = await createBacklogReader(world.engine).read(0)
    assert.deepEqual([backlog.ready, backlog.usable], [3, 3])
    assert.equal((await createShardMaintenance(world.engine, 0).peek()).runnable, true)
    const [waiting = 0] = await pushAll(intake, 1)
    assert.equal((await store.remove('default', id, AN_ACTOR, true)).status, 'removed')
    assert.equal(await store.get('default', id), null)
    await assertClean(world)
    const executor = await hands(1)
    const answer = await executor.sources[0]?.claim(grantOf(1, { otherTeamsHeadroom: 0 }))
    assert.ok(answer?.status === 'claimed' && answer.work.length === 0, 'its team has no room')
    await fill(executor, 2)
    assert.ok(idsOf(executor).includes(waiting), 'the slot of the cancelled one is not free')
    await endAll(executor)
    await createQueueStore(world.engine).remove('default', 'emails')
    await fill(executor, 10)
    assert.equal(executor.held.length, 0)
    assert.equal(await suspects(), 0)
  })

  test('of a team without room hide those of no other', async () => {
    await pushAll(intake, 70)
    const [other = 0] = await pushAll(intake, 1, { team: 'b', queue: 'other' })
    await fill(await hands(1_000), 1_000)
    await loseExecutors()
    await redis.client.zincrby(keys().suspects, 1, `2|${other}`)
    const [source] = (await hands(1_000)).sources
    const answer = await source?.claim(grantOf(64, { teamHeadroom: new Map([['default', 0]]) }))
    assert.ok(answer?.status === 'claimed')
    assert.deepEqual(
      answer.work.map(({ jobId }) => jobId),
      [other],
    )
  })

  test('of a source that could not leave in order keep no other from having some', async () => {
    await makeSuspects(2, 3)
    const cohort = new SuspectCohort(4)
    const open = async (name: string) => {
      const source = new RedisJobSource(world.engine, 0, name, { cohort })
      await source.beat(true)
      return source
    }
    const first = await open('first')
    assert.equal((await worksOf(first)).length, 1)
    const second = await open('second')
    assert.equal((await worksOf(second)).length, 0)
    world.faults.lost.add('reap')
    await assert.rejects(first.leave())
    world.clock.advance(300)
    assert.equal((await worksOf(second)).length, 1)
  })

  async function worksOf(source: JobSource): Promise<readonly ClaimedWork[]> {
    const answer = await source.claim(grantOf(64))
    assert.ok(answer.status === 'claimed')
    return answer.work
  }

  test('given back by an executor that leaves wait again, and no loss is counted', async () => {
    const [id = 0] = await makeSuspects(1)
    for (let i = 0; i < 3; i += 1) {
      const executor = await hands(1)
      await fill(executor, 10)
      assert.deepEqual(idsOf(executor), [id])
      if (i === 1) {
        const { source, work } = executor.held[0] as Hands['held'][number]
        await source.finish([{ type: 'released', work }])
      } else await executor.sources[0]?.leave()
      assert.equal(await suspects(), 1)
      await assertClean(world)
    }
    assert.equal((await redis.client.hget(keys().queue('1').records, String(id)))?.[14], '1')
  })

  test('an answer that is lost brings the same ones again', async () => {
    const ids = await makeSuspects(3)
    const executor = await hands(100)
    world.faults.lost.add('claim_suspects')
    await assert.rejects(async () => executor.sources[0]?.claim(grantOf(64)))
    assert.equal(await suspects(), 0)
    await fill(executor, 64)
    assert.deepEqual(new Set(idsOf(executor)), new Set(ids))
    await assertClean(world)
  })

  test('a retry begins without the losses of the attempt before', async () => {
    await makeSuspects(1, 4)
    const executor = await hands(100)
    await fill(executor, 10)
    for (const { source, work } of executor.held.splice(0)) {
      await source.finish([ended(world, work, { failed: true })])
    }
    const [body] = await redis.client.hvals(keys().queue('1').records)
    assert.equal(body?.slice(13, 15), '20')
  })
})

describe('guards of steps that take away', () => {
  beforeEach(async () => {
    world = await openWorld(redis, { connection, shards: 1 })
    world.newQueues = { ...DEFAULT_QUEUE_SETTINGS, retryDelays: [1] }
    intake = world.newIntake()
  })

  const keys = () => shardKeys(world.engine, 0)

  test('reap waits 2 s after the lease, also when it was renewed while it was on its way', async () => {
    await pushAll(intake, 1)
    const executor = await hands(10)
    const [source] = executor.sources
    await source?.claim(grantOf(1))
    await source?.claim(grantOf(1))
    const reap = async () => (await createShardMaintenance(world.engine, 0).reap()).jobs
    const pass = async (ms: number) => {
      world.clock.advance(ms)
      await createShardMaintenance(world.engine, 0).promote()
    }
    await source?.beat(false)
    await pass(8_000)
    await pass(7_000 + 1_999)
    assert.equal(await reap(), 0)
    await pass(1)
    const nowMs = world.clock.wallMs
    world.faults.before = async (step) => {
      const [executorId = ''] = await redis.client.zrange(keys().executors, '0', '0')
      if (step.name === 'reap') await redis.client.zadd(keys().executors, nowMs - 1_999, executorId)
    }
    assert.equal(await reap(), 0)
    world.faults.before = () => undefined
    await pass(1)
    assert.equal(await reap(), 1)
  })

  test('purge takes what is due, or what is named', async () => {
    const [id = 0] = await pushAll(intake, 1)
    const executor = await hands(10)
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      await fill(executor, 1)
      for (const { source, work } of executor.held.splice(0)) {
        await source.finish([ended(world, work, { failed: true })])
      }
      world.clock.advance(1_000)
      await createShardMaintenance(world.engine, 0).promote()
    }
    const purge = (onlyDue: boolean) =>
      purgeDeadLetters(world.engine, keys(), { localId: '1', roots: [String(id)], onlyDue })
    assert.equal(await purge(true), 0)
    assert.equal(await redis.client.hlen(keys().queue('1').deadLetterRecords), 1)
    assert.equal(await purge(false), 1)
    await assertClean(world)
  })

  test.each([
    ['older', (h: string) => redis.client.lset(h, -1, '1')],
    ['newer', (h: string) => redis.client.lset(h, -3, '1')],
  ])('trim takes nothing when the %s end of its tail is another by now', async (_, change) => {
    const ids = await pushAll(intake, 3)
    const executor = await hands(10)
    await fill(executor, 3)
    await endAll(executor)
    const { history: h, summaries: d } = keys().queue('1')
    world.clock.advance(8 * 86_400_000)
    await createShardMaintenance(world.engine, 0).promote()
    world.faults.before = async (step) => {
      if (step.name === 'trim') await change(h)
    }
    assert.equal(await trimFinished(world.engine, keys(), '1'), 0)
    assert.equal(await redis.client.hlen(d), ids.length)
  })
})
