import assert from 'node:assert/strict'
import { afterAll, beforeEach, describe } from 'vitest'
import { HOLD_RECHECK_MS } from '../../../src/domain/limits.ts'
import { ATTEMPTS_PER_CHAIN } from '../../../src/domain/jobs/job-ids.ts'
import { cronScheduleOf, type CronSettings } from '../../../src/domain/crons/cron.ts'
import { decideCron } from '../../../src/executor/crons/cron-decision.ts'
import { deferCron } from '../../../src/executor/crons/held-crons.ts'
import type { CronSource, CronStore } from '../../../src/ports/crons.ts'
import { inspect } from '../../../src/redis/upkeep/inspection/inspect.ts'
import type { RedisConnection } from '../../../src/redis/base/client/connection.ts'
import { decodeState } from '../../../src/redis/base/layout/cron-record.ts'
import { createCronSource } from '../../../src/redis/crons/tick/cron-source.ts'
import { endedAmong } from '../../../src/redis/crons/ended-runs.ts'
import { createCronStore } from '../../../src/redis/crons/cron-store.ts'
import { shardKeys } from '../../../src/redis/base/engine/engine.ts'
import { indexPlace } from '../../../src/redis/base/layout/keys.ts'
import { cronSettings } from '../../support/engine/cron-settings.ts'
import { assertClean, claimed, ended, openExecutor, pushAll } from '../../support/engine/model-executor.ts'
import { openConnection, openWorld, type World } from '../../support/engine/model-world.ts'
import { quietLogger } from '../../support/quiet.ts'
import type { TestRedis } from '../../support/servers/redis-server.ts'
import { test } from '../../support/servers/shared-redis.ts'
import { tickAll } from '../../support/engine/tick-all.ts'

const MINUTE_MS = 60_000
const NOON_MS = Date.UTC(2032, 1, 28, 12)

let redis: TestRedis
let connection: RedisConnection
let world: World
let store: CronStore
let source: CronSource
let told: unknown[]

test.beforeAll(async ({ emptyRedis }) => {
  redis = emptyRedis
  connection = await openConnection(redis.url)
})
afterAll(() => connection.disconnect())
beforeEach(async () => {
  world = await openWorld(redis, { connection, shards: 1, startMs: NOON_MS + 10_000 })
  store = createCronStore(world.engine)
  told = []
  const logger = { ...quietLogger, error: (_: string, fields?: object) => void told.push(fields) }
  source = createCronSource({ ...world.engine, logger }, 0)
})

async function make(count: number, change: Partial<CronSettings> = {}): Promise<number[]> {
  const ids: number[] = []
  for (let i = 0; i < count; i += 1) {
    const { cronId } = await store.apply('a', `cron-${i}`, cronSettings(change))
    ids.push(cronId)
  }
  return ids
}

const idsOf = (crons: ReadonlyArray<{ readonly cronId: number }>) => crons.map(({ cronId }) => cronId)

describe('a cron whose records are damaged', () => {
  const keys = () => shardKeys(world.engine, 0)
  const damages: ReadonlyArray<readonly [string, (id: string) => Promise<unknown>, string]> = [
    ['no definition', (id) => redis.client.hdel(keys().cronDefinitions, id), 'it has no definition'],
    [
      'half a definition',
      (id) => redis.client.hset(keys().cronDefinitions, id, '["a/cr'),
      'its definition is damaged',
    ],
    [
      'a definition of another kind',
      (id) => redis.client.hset(keys().cronDefinitions, id, '{}'),
      'its definition is damaged',
    ],
    [
      'a short definition',
      (id) => redis.client.hset(keys().cronDefinitions, id, '["a/b"]'),
      'its definition is damaged',
    ],
    ['no state', (id) => redis.client.hdel(keys().cronStates, id), 'it has no state'],
    ['a run that is no job', (id) => spoilRun(keys().cronStates, id), 'its state is damaged'],
    ['an odd state', (id) => redis.client.hset(keys().cronStates, id, 'odd'), 'its state is damaged'],
  ]

  async function spoilRun(key: string, id: string): Promise<void> {
    const parts = ((await redis.client.hget(key, id)) ?? '').split('|')
    await redis.client.hset(key, id, parts.with(6, 'x').join('|'))
  }

  test.each(damages)('as %s is told of once and holds up no others', async (_what, damage, reason) => {
    const [bad = 0, ...good] = await make(3)
    await damage(String(bad))
    assert.deepEqual(idsOf(await source.upcoming(NOON_MS, NOON_MS + MINUTE_MS, 100)), good)
    world.clock.advance(MINUTE_MS)
    assert.deepEqual(idsOf(await source.due(0)), good)
    const schedule = cronScheduleOf(cronSettings())
    assert.ok(!('problem' in schedule))
    const nowMs = source.redisNowMs()
    await tickAll(
      source,
      (await source.due(0)).map((cron) => decideCron(schedule, cron, nowMs)),
    )
    // As if it were not there.
    assert.equal(await source.nextDueMs(), NOON_MS + 2 * MINUTE_MS)
    assert.deepEqual(told, [{ cronId: bad, reason }])
    world.clock.advance(MINUTE_MS)
    assert.equal(await source.nextDueMs(), NOON_MS + MINUTE_MS)
    assert.deepEqual(idsOf(await source.due(0)), good)
    assert.equal(told.length, 1)
  })

  test('is missing from a list until an edit has mended it', async () => {
    const [bad = 0, ...good] = await make(3)
    await redis.client.hset(keys().cronDefinitions, String(bad), '["a/cr')
    const listed = async () => {
      const page = await store.list({ team: 'a', limit: 10, cursor: null })
      assert.ok(page !== 'bad_cursor')
      return idsOf(page.crons)
    }
    assert.deepEqual(await listed(), good)
    assert.equal(await store.get('a', bad), null)
    await store.apply('a', 'cron-0', cronSettings())
    assert.deepEqual(await listed(), [bad, ...good])
  })

  test('is ticked again after an edit has mended it', async () => {
    const [bad = 0] = await make(1)
    await redis.client.hset(keys().cronDefinitions, String(bad), 'odd')
    world.clock.advance(MINUTE_MS)
    assert.deepEqual(await source.due(0), [])
    assert.equal(await source.nextDueMs(), null)
    await store.apply('a', 'cron-0', cronSettings({ url: 'http://other.test/' }))
    world.clock.advance(MINUTE_MS)
    assert.deepEqual(idsOf(await source.due(0)), [bad])
  })

  test('as its state is, it holds up no run, no end of a run and no move, until an edit has mended it', async () => {
    const [bad = 0, good = 0] = await make(2)
    assert.equal((await store.runNow('a', bad)).status, 'started')
    assert.equal((await store.runNow('a', good)).status, 'started')
    await redis.client.hset(keys().cronStates, String(bad), 'odd')
    const executor = await openExecutor(world, 'e1')
    const works = await claimed(executor, 64)
    assert.deepEqual(await executor.finish(works.map((work) => ended(world, work))), ['done', 'done'])
    assert.equal((await store.get('a', good))?.lastRun?.result, 'succeeded')
    assert.equal(await store.get('a', bad), null)
    assert.equal((await store.runNow('a', bad)).status, 'not_found')
    await store.apply('a', 'cron-0', cronSettings({ queue: 'q' }))
    await redis.client.hset(keys().cronStates, String(bad), '1|odd')
    await store.apply('a', 'cron-0', cronSettings())
    assert.equal((await store.runNow('a', bad)).status, 'started')
    await assertClean(world)
  })

  test('is none that was removed while it was read', async () => {
    const [gone = 0] = await make(1)
    world.clock.advance(MINUTE_MS)
    let reads = 0
    const removing = createCronSource(
      {
        ...world.engine,
        logger: { ...quietLogger, error: (_: string, fields?: object) => void told.push(fields) },
        runner: {
          ...world.engine.runner,
          read: async (read) => {
            reads += 1
            if (reads === 2) await store.remove('a', 'cron-0')
            return world.engine.runner.read(read)
          },
        },
      },
      0,
    )
    assert.deepEqual(await removing.due(0), [])
    assert.deepEqual(told, [])
    assert.ok(gone > 0)
  })
})

test('a run goes on as long as any of its attempts is open, the last one too', async () => {
  const { engine } = world
  const [id = 0] = await pushAll(world.newIntake(), 1)
  const shard = engine.jobIds.shardOf(id)
  const { records } = shardKeys(engine, shard).queue('1')
  const last = engine.jobIds.idOf(shard, engine.jobIds.seqOf(id), ATTEMPTS_PER_CHAIN)
  assert.deepEqual([...(await endedAmong(engine, [id]))], [])
  await redis.client.hset(records, String(last), (await redis.client.hget(records, String(id))) ?? '')
  await redis.client.hdel(records, String(id))
  assert.deepEqual([...(await endedAmong(engine, [id]))], [])
  await redis.client.hdel(records, String(last))
  assert.deepEqual([...(await endedAmong(engine, [id]))], [id])
})

test('a cron that is set aside is left out of everything until it is due another time', async () => {
  const ids = await make(450)
  world.clock.advance(MINUTE_MS)
  const found = new Set<number>()
  for (const length of [200, 200, 50, 0]) {
    const due = await source.due(0)
    assert.equal(due.length, length)
    for (const { cronId } of due) found.add(cronId)
    for (const cron of due) assert.ok(source.quarantine(cron, 'odd'))
  }
  assert.deepEqual(found, new Set(ids))
  assert.equal(await source.nextDueMs(), null)
  assert.equal(told.length, 450)
  await store.apply('a', 'cron-7', cronSettings({ cronExpression: '*/2 * * * *' }))
  assert.equal(await source.nextDueMs(), NOON_MS + 2 * MINUTE_MS)
  assert.deepEqual(idsOf(await source.upcoming(NOON_MS, NOON_MS + 5 * MINUTE_MS, 1_000)), [ids[7]])
})

describe('a cron that was put off', () => {
  const putOff = async () => {
    const due = await source.due(0)
    const nowMs = source.redisNowMs()
    await tickAll(
      source,
      due.map((cron) => deferCron(cron, NOON_MS + 60 * MINUTE_MS, nowMs)),
    )
    return due
  }

  test('is due later, with the same tick; an inspection accepts it, but none that is put off for long', async () => {
    const [cronId = 0] = await make(1)
    world.clock.advance(MINUTE_MS)
    const [before] = await putOff()
    assert.deepEqual(idsOf(await source.due(0)), [])
    const dueMs = world.clock.wallMs + HOLD_RECHECK_MS
    assert.equal(await source.nextDueMs(), dueMs)
    await assertClean(world)
    world.clock.advance(HOLD_RECHECK_MS)
    assert.equal((await source.due(0))[0]?.expectedMs, before?.expectedMs)
    const { cronsDue } = shardKeys(world.engine, 0)
    await redis.client.zadd(cronsDue, dueMs + 2 * HOLD_RECHECK_MS, String(cronId))
    assert.equal((await inspect(world.engine)).length, 1)
  })

  test('is not put off by who knows an older version of it or another tick', async () => {
    await make(1)
    world.clock.advance(MINUTE_MS)
    const [old] = await source.due(0)
    assert.ok(old !== undefined)
    await make(1, { url: 'http://other.test/' })
    const late = deferCron(old, NOON_MS + 60 * MINUTE_MS, source.redisNowMs())
    assert.deepEqual(await tickAll(source, [late]), { started: 0, outdated: 1 })
    assert.equal((await source.due(0)).length, 1)
  })
})

describe('crons whose concurrency is forbidden', () => {
  const schedule = cronScheduleOf(cronSettings())
  assert.ok(!('problem' in schedule))
  const decidedDue = async () => {
    world.clock.advance(MINUTE_MS)
    const nowMs = source.redisNowMs()
    return (await source.due(0)).map((cron) => decideCron(schedule, cron, nowMs))
  }

  test('have their runs looked up together, and those that are gone hold up none', async () => {
    const ids = await make(200, { concurrencyPolicy: 'forbid' })
    assert.equal((await tickAll(source, await decidedDue())).started, 200)
    const { engine } = world
    // Somebody cancels the job of one, and the queue of another is deleted.
    const [cancelled = 0, deleted = 0] = ids
    const keys = shardKeys(engine, 0)
    await redis.client.del(keys.queue(String(cancelled)).records)
    const running =
      decodeState((await redis.client.hget(keys.cronStates, String(deleted))) ?? '').running ?? 0
    const { block, field } = indexPlace(engine.jobIds.seqOf(running))
    await redis.client.hdel(keys.jobIndex(block), field)

    let reads = 0
    const counting = createCronSource(
      {
        ...engine,
        runner: {
          ...engine.runner,
          read: (read) => {
            reads += 1
            return engine.runner.read(read)
          },
        },
      },
      0,
    )
    const decided = await decidedDue()
    const prepared = await counting.prepare(decided)
    assert.equal(reads, 2)
    for (const ticks of prepared) await ticks.send()
    const records = await Promise.all(ids.map((id) => redis.client.lindex(keys.cronRecords(String(id)), 0)))
    const skipped = ids.filter((_, i) => records[i]?.startsWith('k|'))
    assert.deepEqual(skipped, ids.slice(2))
  })
})
