import assert from 'node:assert/strict'
import { afterAll, beforeEach, describe } from 'vitest'
import { isDamaged } from '../../../../src/redis/ledger/damaged-chain.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import type { JobIntake, ClaimedWork, JobSource } from '../../../../src/ports/jobs.ts'
import type { RedisConnection } from '../../../../src/redis/base/client/connection.ts'
import { createBacklogReader } from '../../../../src/redis/jobs/queues/backlog-reader.ts'
import { shardKeys, type Engine } from '../../../../src/redis/base/engine/engine.ts'
import { RedisJobSource } from '../../../../src/redis/jobs/execute/job-source.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import { createQueueStats } from '../../../../src/redis/jobs/queues/queue-stats.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { assertClean, claimed, ended, openExecutor, pushAll } from '../../../support/engine/model-executor.ts'
import { openConnection, openWorld, type World } from '../../../support/engine/model-world.ts'
import { quietLogger, quietMetrics } from '../../../support/quiet.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { AN_ACTOR } from '../../../support/principals.ts'

const DAY_MS = 86_400_000
const QUEUE = { ...DEFAULT_QUEUE_SETTINGS, retryDelays: [1] }

let redis: TestRedis
let connection: RedisConnection
let world: World
let engine: Engine
let intake: JobIntake
let told: string[]
let quarantined: number

test.beforeAll(async ({ emptyRedis }) => {
  redis = emptyRedis
  connection = await openConnection(redis.url)
})
afterAll(() => connection.disconnect())
beforeEach(async () => {
  world = await openWorld(redis, { connection, shards: 1 })
  world.newQueues = QUEUE
  intake = world.newIntake()
  told = []
  quarantined = 0
  engine = {
    ...world.engine,
    logger: { ...quietLogger, error: (line, fields) => void told.push(`${line} ${JSON.stringify(fields)}`) },
    metrics: { ...quietMetrics, jobsQuarantined: (count) => (quarantined += count) },
  }
})

const keys = () => shardKeys(engine, 0)
const queue = () => keys().queue('1')
const store = () => createJobStore(engine)
const upkeep = () => createShardMaintenance(engine, 0)

async function executor(name = 'e1'): Promise<JobSource> {
  const source = new RedisJobSource(engine, 0, name)
  assert.equal((await source.beat(true)).status, 'ok')
  return source
}

async function spoil(id: number, damage: Damage): Promise<void> {
  await plant(queue().records, id, damage((await redis.client.hget(queue().records, String(id))) ?? ''))
}

/** Puts a value in the place of another. What the team holds is counted as if it had been written in that length. */
async function plant(key: string, id: number, value: string | Buffer | null): Promise<void> {
  const before = await redis.client.hstrlen(key, String(id))
  await (value === null ? redis.client.hdel(key, String(id)) : redis.client.hset(key, String(id), value))
  const grown = (await redis.client.hstrlen(key, String(id))) - before
  for (const field of ['default:b', '*:b']) await redis.client.hincrby(keys().teamUsage, field, grown)
}

/** Claims all there is and ends it, jobs as failed or not; answers the ids of those that were called. */
async function runAll(source: JobSource, failed = false): Promise<number[]> {
  const works: readonly ClaimedWork[] = await claimed(source, 64)
  if (works.length > 0) await source.finish(works.map((work) => ended(world, work, { failed })))
  return works.filter(({ kind }) => kind !== 'damaged').map(({ jobId }) => jobId)
}

/** The lease of every executor runs out. */
async function loseExecutors(): Promise<void> {
  for (let i = 0; i < 3; i += 1) {
    world.clock.advance(9_000)
    await upkeep().promote()
  }
  await upkeep().reap()
}

async function assertSetAside(id: number): Promise<void> {
  const chain = await store().get('default', id)
  assert.ok(chain !== null && isDamaged(chain), 'it is not shown as damaged')
  assert.equal(chain.end, 'dead_lettered')
  assert.ok(told.some((line) => line.includes(`"jobId":${id}}`)))
  assert.equal(quarantined, 1)
  assert.equal(await redis.client.hexists(queue().records, String(id)), 0)
  assert.equal(await redis.client.zscore(queue().inFlight, String(id)), null)
  await assertClean(world)
  assert.equal((await store().remove('default', id, AN_ACTOR, true)).status, 'removed')
  assert.equal(await store().get('default', id), null)
  await assertClean(world)
}

type Damage = (record: string) => string | Buffer
const HEADS: ReadonlyArray<readonly [string, Damage]> = [
  ['one letter', () => 'x'],
  ['nothing', () => ''],
  ['forty letters', () => 'x'.repeat(40)],
  ['bytes that are no text', () => Buffer.from([0xff, 0xfe, 0, 10, 0x80, ...Array<number>(60).fill(0xc3)])],
  ['a due time with letters', (record) => `17x${record.slice(3)}`],
  ['a flag that is none', (record) => `${record.slice(0, 15)}?${record.slice(16)}`],
  ['a timeout that Lua reads as no number', (record) => `${record.slice(0, 16)}nan${record.slice(19)}`],
  ['a loss count that is none', (record) => `${record.slice(0, 14)}x${record.slice(15)}`],
  ['a head alone', (record) => record.slice(0, 30)],
  ['no request', (record) => record.slice(0, record.indexOf('\n'))],
]
const RESTS: ReadonlyArray<readonly [string, Damage]> = [
  ['half a request', (record) => record.slice(0, record.indexOf('\n') + 6)],
  ['a request of another kind', (record) => `${record.slice(0, record.indexOf('\n'))}\n[1]`],
  ['a chain of another kind', (record) => record.replace('|', '|[["a"]]')],
  ['a large part that is nowhere', (record) => `${record.slice(0, 15)}1${record.slice(16)}`],
]

describe.each([...HEADS, ...RESTS])('a record with %s', (_, damage) => {
  test('is claimed once and set aside; the others run', async () => {
    const [first = 0, bad = 0, last = 0] = await pushAll(intake, 3)
    await spoil(bad, damage)
    const source = await executor()
    assert.deepEqual(await runAll(source), [first, last])
    assert.deepEqual(await runAll(source), [])
    assert.partialDeepStrictEqual(await source.beat(false), { status: 'ok', listed: 0 })
    await assertSetAside(bad)
    assert.equal(told.length, 1)
  })

  test('is set aside when its executor is lost; the others go back', async () => {
    const [first = 0, bad = 0, last = 0] = await pushAll(intake, 3)
    await claimed(await executor(), 64)
    await spoil(bad, damage)
    await loseExecutors()
    assert.deepEqual(new Set(await runAll(await executor('e2'))), new Set([first, last]))
    await assertSetAside(bad)
  })
})

describe.each(HEADS)('a record with %s', (_, damage) => {
  test.each([1, 2])('is set aside when attempt %i, a retry or a dead letter follows', async (attempt) => {
    const [first = 0, root = 0] = await pushAll(intake, 2)
    const source = await executor()
    if (attempt === 2) {
      await runAll(source, true)
      world.clock.advance(1000)
      await upkeep().promote()
    }
    const works = await claimed(source, 64)
    const bad = works.find(({ jobId }) => engine.jobIds.rootOf(jobId) === root)?.jobId ?? 0
    await spoil(bad, damage)
    const ends = works.map((work) => ended(world, work, { failed: true }))
    assert.deepEqual(await source.finish(ends), ['done', 'done'])
    const good = await store().get('default', first)
    assert.equal(good?.attempts.at(-1)?.failureReason, 'http_server_error')
    assert.equal((await store().get('default', bad))?.attempts.length, attempt)
    await assertSetAside(bad)
  })

  test.each([0, 30, 600])('is cancelled while it waits, due in %i s', async (delaySeconds) => {
    const [bad = 0, good = 0] = await pushAll(intake, 2, { start: { delaySeconds } })
    await spoil(bad, damage)
    assert.equal((await store().remove('default', bad, AN_ACTOR, true)).status, 'removed')
    assert.equal(await store().get('default', bad), null)
    await assertClean(world)
    assert.deepEqual(await runWhenDue(delaySeconds), [good])
    await assertClean(world)
  })

  test.each([30, 600])('becomes ready when its entry says so, due in %i s', async (delaySeconds) => {
    const [bad = 0, good = 0] = await pushAll(intake, 2, { start: { delaySeconds } })
    await spoil(bad, damage)
    assert.deepEqual(await runWhenDue(delaySeconds), [good])
    await assertSetAside(bad)
  })

  test('holds up neither a count nor a resend nor the removal of its queue', async () => {
    const [bad = 0] = await pushAll(intake, 2)
    await spoil(bad, damage)
    const sent = world.sent.get('enqueue')
    assert.ok(sent)
    const again = await world.engine.runner.run({ name: 'enqueue', keys: sent.keys, args: sent.args })
    assert.match(String(again), new RegExp(`^\\d+ 0 \\d again - (-1|\\d{13})(?: 1 again - \\d{13})?$`))
    const [entry] = await createQueueStats(engine).count([{ team: 'default', name: 'emails' }])
    assert.deepEqual(entry?.counts, { pending: 2, delayed: 0, processing: 0, dead: 0 })
    assert.equal((await createBacklogReader(engine).read(0)).ready, 2)
    assert.equal(await createQueueStore(engine).remove('default', 'emails'), 'removed')
    while ((await upkeep().sweep()).isMore);
    await assertClean(world)
  })
})

/** Lets the delay pass, in steps that are no jump of the clock, and runs what is ready then. */
async function runWhenDue(delaySeconds: number): Promise<number[]> {
  for (let passed = 0; passed <= delaySeconds; passed += 9) {
    world.clock.advance(9_000)
    await upkeep().promote()
  }
  return runAll(await executor('late'))
}

describe('what is damaged harms itself alone', () => {
  test('a job without a record: its slot is freed, the others go back', async () => {
    const [bad = 0, good = 0] = await pushAll(intake, 2)
    await claimed(await executor(), 64)
    await plant(queue().records, bad, null)
    await loseExecutors()
    assert.deepEqual(await runAll(await executor('e2')), [good])
    await assertSetAside(bad)
  })

  test.each(['x', '', '1|', '1|2|3'])(
    'a holder %j: the job goes back, also to a living executor',
    async (value) => {
      const ids = await pushAll(intake, 2)
      const source = await executor()
      await claimed(source, 64)
      await redis.client.hset(keys().heldJobs('e1'), String(ids[0]), value)
      assert.equal(await source.releaseUnknown(new Set([ids[1] ?? 0])), 1)
      assert.deepEqual(
        (await claimed(source, 64)).map(({ jobId }) => jobId),
        [ids[0]],
      )
      await redis.client.hset(keys().heldJobs('e1'), String(ids[0]), value)
      // Of a job that is nowhere.
      await redis.client.hset(keys().heldJobs('e1'), '160000', value)
      await loseExecutors()
      assert.equal(await redis.client.exists(keys().heldJobs('e1')), 0)
      assert.deepEqual(new Set(await runAll(await executor('e2'))), new Set(ids))
      await assertClean(world)
    },
  )

  test('an entry of near or of a minute: it is dropped, and the others become ready', async () => {
    const near = await pushAll(intake, 2, { start: { delaySeconds: 30 } })
    const later = await pushAll(intake, 2, { start: { delaySeconds: 600 } })
    const [minute = ''] = await redis.client.zrange(keys().minutes, '0', '-1')
    for (const entry of ['x', '1|2', '', '1|2|x', '|||']) {
      await redis.client.lpush(keys().minuteBucket(Number(minute)), entry)
      await redis.client.zadd(keys().nearSet, '1', entry.replace('1|2', 'odd'))
    }
    assert.deepEqual(new Set(await runWhenDue(600)), new Set([...near, ...later]))
    assert.equal(told.filter((line) => line.includes('were dropped')).length, 2)
    assert.equal(await redis.client.zcard(keys().nearSet), 0)
    await assertClean(world)
  })

  test('a limit: the queue runs one job at a time, the others as ever', async () => {
    await createQueueStore(engine).apply('default', 'emails', { ...QUEUE, maxParallelism: 5 })
    await pushAll(intake, 3)
    await redis.client.hset(queue().meta, 'm', 'many', 't', 'long')
    await pushAll(intake, 2)
    await pushAll(intake, 2, { queue: 'other' })
    const source = await openExecutor(world, 'e1')
    const works = await claimed(source, 64)
    assert.deepEqual(works.map(({ location }) => location.queue).toSorted(), ['1', '2', '2'])
    await source.finish(works.map((work) => ended(world, work)))
    assert.equal((await claimed(source, 64)).length, 1)
    await createQueueStore(engine).apply('default', 'emails', { ...QUEUE, maxParallelism: 5 })
    assert.equal((await claimed(source, 64)).length, 3)
    await assertClean(world)
  })

  test('settings: their jobs run with the defaults', async () => {
    await pushAll(intake, 2)
    const [hash = ''] = await redis.client.hkeys(keys().settings)
    await redis.client.hset(keys().settings, hash, '[1]')
    const works = await claimed(await executor(), 64)
    for (const work of works) {
      assert.ok(work.kind === 'job')
      assert.deepEqual(work.settings.retryDelays, DEFAULT_QUEUE_SETTINGS.retryDelays)
    }
    assert.equal(works.length, 2)
  })

  test('a callback: it is dropped and told of, the others are sent', async () => {
    await pushAll(intake, 2, { request: { callbackUrl: 'http://target.test/' } })
    const source = await executor()
    const works = await claimed(source, 64)
    await source.finish(works.map((work) => ended(world, work)))
    const [callbacks = ''] = (await redis.client.keys('*:b:*')).filter((key) => key !== queue().records)
    await plant(callbacks, works[0]?.jobId ?? 0, 'x')
    assert.deepEqual(await runAll(source), [works[1]?.jobId])
    assert.partialDeepStrictEqual(await source.beat(false), { status: 'ok', listed: 0 })
    assert.equal(quarantined, 1)
    await assertClean(world)
  })

  test('a dead letter and a finished chain: they are shown, and forgotten in their time', async () => {
    const [dead = 0, alive = 0] = await pushAll(intake, 2)
    const source = await executor()
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      await runAll(source, true)
      world.clock.advance(1000)
      await upkeep().promote()
    }
    const [finished = 0] = await pushAll(intake, 1)
    await runAll(source)
    await redis.client.hset(queue().deadLetterRecords, String(dead), 'x')
    await redis.client.hset(queue().summaries, String(finished), 'x')
    await redis.client.hset(queue().callRecords, String(finished), 'x')
    assert.deepEqual(await store().replay('default', dead, AN_ACTOR), { status: 'damaged' })
    assert.equal((await store().replay('default', alive, AN_ACTOR)).status, 'made')
    assert.equal((await store().get('default', finished))?.end, 'failed_no_retries')
    assert.equal((await store().remove('default', finished, AN_ACTOR, true)).status, 'removed')
    assert.equal((await store().remove('default', dead, AN_ACTOR, true)).status, 'removed')
    assert.equal(await store().get('default', dead), null)
    world.clock.advance(8 * DAY_MS)
    await upkeep().promote()
    while ((await upkeep().sweep()).isMore);
    assert.equal(await store().get('default', finished), null)
  })

  test('what was set aside is forgotten when finished chains are', async () => {
    const [bad = 0] = await pushAll(intake, 1, { request: { payload: JSON.stringify('x'.repeat(9_000)) } })
    await spoil(bad, () => 'x')
    await runAll(await executor())
    assert.ok((await store().get('default', bad)) !== null)
    await assertClean(world)
    world.clock.advance(engine.retention.finishedChainsMs + 1000)
    await upkeep().promote()
    while ((await upkeep().sweep()).isMore);
    assert.equal(await store().get('default', bad), null)
    assert.equal(await redis.client.exists(queue().payloads), 0)
    await assertClean(world)
  })
})
