import assert from 'node:assert/strict'
import { ANY_JOB } from '../../../../src/domain/jobs/job-filter.ts'
import type { Redis } from 'ioredis'
import { afterAll, beforeEach, describe } from 'vitest'
import { readPageQuery } from '../../../../src/contract/requests/list-query.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import type { CronStore } from '../../../../src/ports/crons.ts'
import type { QueueStore } from '../../../../src/ports/queues.ts'
import { inspect } from '../../../../src/redis/upkeep/inspection/inspect.ts'
import type { RedisConnection } from '../../../../src/redis/base/client/connection.ts'
import { createCronStore } from '../../../../src/redis/crons/cron-store.ts'
import { shardOfQueue, type Engine } from '../../../../src/redis/base/engine/engine.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import { nameField } from '../../../../src/redis/base/layout/keys.ts'
import { formatCursor } from '../../../../src/redis/base/names/list-cursor.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { commandsDuring } from '../../../support/servers/command-counts.ts'
import { cronSettings } from '../../../support/engine/cron-settings.ts'
import { assertClean, pushOne } from '../../../support/engine/model-executor.ts'
import { openConnection, openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { queuePages } from '../../../support/engine/lists/queue-pages.ts'

const TEAM = 'mine'
const SHARDS = 4
const FIRST_PAGE = { team: TEAM, limit: 100, cursor: null }

let redis: TestRedis
let connection: RedisConnection
let world: World
let queues: QueueStore
let listQueues: ReturnType<typeof queuePages>
let crons: CronStore

test.beforeAll(async ({ emptyRedis }) => {
  redis = emptyRedis
  connection = await openConnection(redis.url)
})
afterAll(() => connection.disconnect())
beforeEach(async () => {
  world = await openWorld(redis, { connection, shards: SHARDS })
  queues = createQueueStore(world.engine)
  listQueues = queuePages(world.engine)
  crons = createCronStore(world.engine)
})

const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))
const makeQueues = (names: readonly string[]) =>
  Promise.all(names.map((name) => queues.apply(TEAM, name, DEFAULT_QUEUE_SETTINGS)))
const makeCrons = (names: readonly string[]) =>
  Promise.all(names.map((name) => crons.apply(TEAM, name, cronSettings({ displayName: name }))))

/** All names that pages of this size lead through, as a client sends the cursors. */
async function walk(
  list: (query: {
    team: string
    limit: number
    cursor: string | null
  }) => Promise<{ names: string[]; nextCursor: string | null } | 'bad_cursor'>,
  limit: number,
): Promise<string[][]> {
  const pages: string[][] = []
  let cursor: string | null = null
  do {
    const page = await list({ team: TEAM, limit, cursor })
    assert.ok(page !== 'bad_cursor')
    pages.push(page.names)
    assert.ok(pages.length < 1_000, 'the cursors lead nowhere')
    cursor = page.nextCursor
    if (cursor === null) continue
    const sent = readPageQuery(new URLSearchParams({ cursor }).toString())
    assert.equal(sent.kind, 'valid')
  } while (cursor !== null)
  return pages
}

const walkQueues = (limit: number) =>
  walk(async (query) => {
    const page = await listQueues(query)
    return page === 'bad_cursor'
      ? page
      : { names: page.queues.map(({ name }) => name), nextCursor: page.nextCursor }
  }, limit)
const walkCrons = (limit: number) =>
  walk(async (query) => {
    const page = await crons.list(query)
    return page === 'bad_cursor'
      ? page
      : { names: page.crons.map(({ name }) => name), nextCursor: page.nextCursor }
  }, limit)

/** Names of other teams, written past the steps, as they would have been left. */
async function addOthers(engine: Engine, client: Pick<Redis, 'pipeline'>, count: number): Promise<void> {
  const pipeline = client.pipeline()
  for (let i = 0; i < count; i += 1) {
    const [team, name] = [`other${i % 10}`, `queue-${i}`]
    const keys = shardOfQueue(engine, team, name)
    pipeline
      .hset(keys.queueIds, nameField(team, name), String(1_000_000 + i))
      .zadd(keys.teamQueues(team), 0, name)
    pipeline
      .hset(keys.cronIds, nameField(team, name), String(1_000_000 + i))
      .zadd(keys.teamCrons(team), 0, name)
  }
  await pipeline.exec()
}

const count = (steps: readonly string[], sought: string) => steps.filter((name) => name === sought).length

describe('a page of a team with few names', () => {
  const lists: ReadonlyArray<readonly [string, () => Promise<unknown>, number]> = [
    ['queues', () => listQueues(FIRST_PAGE), 20],
    ['crons', () => crons.list(FIRST_PAGE), 20],
    ['jobs', () => createJobStore(world.engine).list({ ...FIRST_PAGE, filter: ANY_JOB, queues: null }), 40],
  ]

  test.each(lists)('of %s costs the same however many names others have', async (_, list, commandsMax) => {
    await makeQueues(['emails'])
    await makeCrons(['nightly'])
    await pushOne(world.newIntake(), { team: TEAM, queue: 'emails' })
    await list()
    const alone = await commandsDuring(redis.client, list)
    await addOthers(world.engine, redis.client, 5_000)
    const among = await commandsDuring(redis.client, list)
    assert.deepEqual(among, alone)
    const commands = Object.values(alone).reduce((sum, calls) => sum + calls, 0)
    assert.ok(commands <= commandsMax, JSON.stringify(alone))
  })

  test('takes one step a shard for the names and one for the rows, and a few for what happened in queues', async () => {
    await makeQueues(Array.from({ length: 100 }, (_, i) => `queue ${i}`))
    await makeCrons(Array.from({ length: 100 }, (_, i) => `cron-${i}`))
    const steps: string[] = []
    world.faults.before = ({ name }) => void steps.push(name)
    for (const [list, rows] of [
      [listQueues, ['read_queues', 'read_hours']],
      [crons.list, ['read_crons']],
    ] as const) {
      steps.length = 0
      const { evalsha, hmget = 0 } = await commandsDuring(redis.client, () => list(FIRST_PAGE))
      const each = Array.from({ length: SHARDS }, () => 'list_names')
      assert.deepEqual(steps.slice(0, SHARDS), each)
      const others = steps.slice(SHARDS)
      for (const name of rows.slice(0, 1)) assert.equal(count(others, name), SHARDS)
      // Of queues with an hour each, one step reads 25.
      for (const name of rows.slice(1)) assert.ok(count(others, name) <= 2 * SHARDS)
      assert.equal(evalsha, steps.length)
      // Where crons live is one command a shard more; the rest is asked by the steps.
      assert.ok(hmget <= 100 + 3 * SHARDS, `${hmget} times HMGET`)
    }
  })
})

describe('the names of a team', () => {
  const ODD = [
    'a',
    'B',
    'é',
    '\u{ffff}',
    '\u{1f600}',
    '\u{e000}',
    '日本',
    ' ',
    '\t',
    '/',
    'a/b',
    '(a',
    '[a',
    '-',
    '+',
  ]
  const LONG = ['x'.repeat(255), '\u{1f600}'.repeat(255), '\u0001'.repeat(255)]

  test.each([1, 2, 7, 1000])('come in the order of their bytes, in pages of %d', async (limit) => {
    const names = [...ODD, ...LONG, ...Array.from({ length: 20 }, (_, i) => `q${i}`)]
    await makeQueues(names)
    await makeCrons(names)
    const sorted = names.toSorted(byBytes)
    for (const pages of [await walkQueues(limit), await walkCrons(limit)]) {
      assert.deepEqual(pages.flat(), sorted)
      assert.ok(pages.every((page) => page.length > 0 && page.length <= limit))
    }
  })

  test('come in their order where nearly all live in one shard', async () => {
    const [first] = world.engine.shards
    const candidates = Array.from({ length: 1_200 }, (_, i) => `n${i}`)
    const names = candidates.filter((name, i) => i < 8 || shardOfQueue(world.engine, TEAM, name) === first)
    await makeQueues(names)
    for (const limit of [60, 100, 1000]) {
      const pages = await walkQueues(limit)
      assert.deepEqual(pages.flat(), names.toSorted(byBytes))
      assert.ok(pages.slice(0, -1).every((page) => page.length === limit))
    }
  })

  test('come in their order where one shard holds the first hundreds', async () => {
    const [first] = world.engine.shards
    const inFirst = (name: string) => shardOfQueue(world.engine, TEAM, name) === first
    const candidates = Array.from({ length: 800 }, (_, i) => String(i))
    const names = [
      ...candidates.map((name) => `a${name}`).filter(inFirst),
      ...candidates.map((name) => `b${name}`).filter((name) => !inFirst(name)),
    ]
    await makeQueues(names)
    for (const limit of [60, 100]) {
      assert.deepEqual((await walkQueues(limit)).flat(), names.toSorted(byBytes))
    }
  })

  test('are made, deleted and made again while a page is read', async () => {
    await makeQueues(['a', 'b', 'c', 'd'])
    let changed: Promise<unknown> | null = null
    const change = async () => {
      await queues.remove(TEAM, 'b')
      await queues.remove(TEAM, 'c')
      await makeQueues(['c', 'bb'])
    }
    world.faults.before = async ({ name }) => {
      if (name === 'read_queues') await (changed ??= change())
    }
    const page = await listQueues({ ...FIRST_PAGE, limit: 3 })
    assert.ok(page !== 'bad_cursor')
    assert.deepEqual(
      page.queues.map(({ name }) => name),
      ['a'],
    )
    const next = await listQueues({ ...FIRST_PAGE, cursor: page.nextCursor })
    assert.ok(next !== 'bad_cursor')
    assert.deepEqual(
      next.queues.map(({ name }) => name),
      ['d'],
    )
    assert.deepEqual(await walkQueues(2), [
      ['a', 'bb'],
      ['c', 'd'],
    ])
    await assertClean(world)
  })

  test('leave the index when they are dropped, and the index goes with the last', async () => {
    await makeQueues(['a', 'b'])
    await makeCrons(['a', 'b'])
    for (const name of ['a', 'b']) {
      await queues.remove(TEAM, name)
      await crons.remove(TEAM, name)
    }
    assert.deepEqual([await walkQueues(10), await walkCrons(10)], [[[]], [[]]])
    assert.deepEqual(await redis.client.keys('*n:*'), [])
  })

  test('no name of theirs: another team has its own', async () => {
    await makeQueues(['mine'])
    await queues.apply('mine2', 'theirs', DEFAULT_QUEUE_SETTINGS)
    assert.deepEqual(await walkQueues(10), [['mine']])
  })
})

describe('a cursor', () => {
  const crafted = ['', '-', '+', '[a', '(a', '\u0000', 'a\r\nFLUSHALL\r\n', '\u{10ffff}']

  test.each(crafted)('at a name that nobody has, %j, is a place in the list', async (name) => {
    await makeQueues(['a', 'b'])
    await makeCrons(['a', 'b'])
    const pages = [
      await listQueues({ ...FIRST_PAGE, cursor: formatCursor(['queues', TEAM], name) }),
      await crons.list({ ...FIRST_PAGE, cursor: formatCursor(['crons', TEAM], name) }),
    ]
    for (const page of pages) {
      assert.ok(page !== 'bad_cursor')
      const { nextCursor, ...rows } = page
      assert.equal(nextCursor, null)
      assert.ok(Object.values(rows)[0].length <= 2)
    }
    await assertClean(world)
  })

  const own = formatCursor(['queues', TEAM], 'a')
  test.each([
    ['nothing', ''],
    ['no Base64', '%%%'],
    ['JSON', '["a"]'],
    ['one with something behind it', `${own}=`],
    ['one of another team', formatCursor(['queues', 'others'], 'a')],
    ['one of jobs', formatCursor(['jobs', TEAM, null, null], 'o.1.1.a')],
    ['one of runs', formatCursor(['cron runs', TEAM, 0], '1')],
  ])('is refused where it is %s', async (_, cursor) => {
    await makeQueues(['a', 'b'])
    assert.equal(await listQueues({ ...FIRST_PAGE, cursor }), 'bad_cursor')
    assert.equal(await crons.list({ ...FIRST_PAGE, cursor }), 'bad_cursor')
  })

  test('of queues is refused by the list of crons, and the other way round', async () => {
    await makeQueues(['a', 'b'])
    await makeCrons(['a', 'b'])
    const ofQueues = await listQueues({ ...FIRST_PAGE, limit: 1 })
    const ofCrons = await crons.list({ ...FIRST_PAGE, limit: 1 })
    assert.ok(ofQueues !== 'bad_cursor' && ofCrons !== 'bad_cursor')
    assert.equal(await crons.list({ ...FIRST_PAGE, cursor: ofQueues.nextCursor }), 'bad_cursor')
    assert.equal(await listQueues({ ...FIRST_PAGE, cursor: ofCrons.nextCursor }), 'bad_cursor')
  })
})

describe('what lost writes may leave', () => {
  const damages: ReadonlyArray<
    readonly [string, (keys: ReturnType<typeof shardOfQueue>) => Promise<unknown>]
  > = [
    ['a queue that no index names', (keys) => redis.client.zrem(keys.teamQueues(TEAM), 'a')],
    ['an index with a name of no queue', (keys) => redis.client.zadd(keys.teamQueues(TEAM), 0, 'gone')],
    ['a name out of order', (keys) => redis.client.zadd(keys.teamQueues(TEAM), 1, 'a')],
    ['a cron that no index names', (keys) => redis.client.zrem(keys.teamCrons(TEAM), 'a')],
    ['an index with a name of no cron', (keys) => redis.client.zadd(keys.teamCrons('nobody'), 0, 'gone')],
  ]

  test.each(damages)('%s is found by the inspection and breaks no page', async (_, damage) => {
    await makeQueues(['a'])
    await makeCrons(['a'])
    await assertClean(world)
    await damage(shardOfQueue(world.engine, TEAM, 'a'))
    const findings = await inspect(world.engine)
    assert.equal(findings.length, 1, JSON.stringify(findings))
    assert.match(findings[0]?.key ?? '', /:[qk]n:(mine|nobody)$/)
    await walkQueues(10)
    await walkCrons(10)
  })

  test('names of nothing hide none of those behind them', async () => {
    await makeQueues(['x', 'y', 'z'])
    for (const keys of world.engine.shards) {
      const left = Array.from({ length: 50 }, (_, i) => [0, `left behind ${i}`]).flat()
      await redis.client.zadd(keys.teamQueues(TEAM), ...left)
    }
    assert.deepEqual(await walkQueues(3), [['x', 'y', 'z']])
    assert.deepEqual(await walkQueues(2), [['x', 'y'], ['z']])
  })

  test('a queue or a cron that cannot be read is left out of its page', async () => {
    await makeQueues(['b', 'c'])
    await queues.apply(TEAM, 'a', { ...DEFAULT_QUEUE_SETTINGS, timeoutSeconds: 77 })
    await makeCrons(['a', 'b', 'c'])
    const { settings: set, cronStates: ks, cronIds: kn } = shardOfQueue(world.engine, TEAM, 'a')
    for (const [hash, json] of Object.entries(await redis.client.hgetall(set))) {
      if (json.startsWith('[77')) await redis.client.hset(set, hash, '[')
    }
    const id = (await redis.client.hget(kn, nameField(TEAM, 'a'))) ?? ''
    await redis.client.hset(ks, id, 'x|y')
    assert.deepEqual(await walkQueues(10), [['b', 'c']])
    assert.deepEqual(await walkCrons(10), [['b', 'c']])
  })
})

test('a page of crons ends early where their definitions are long, and the next goes on', async () => {
  const names = Array.from({ length: 50 }, (_, i) => `cron-${String(i).padStart(2, '0')}`)
  const payload = 'x'.repeat(256 * 1024)
  await Promise.all(names.map((name) => crons.apply(TEAM, name, cronSettings({ payload }))))
  const pages = await walkCrons(1000)
  assert.deepEqual(pages.flat(), names)
  assert.ok(pages.length > 1)
})

test('a cron on its way from one shard to another is listed', async () => {
  await makeCrons(['nightly'])
  const elsewhere = Array.from({ length: 20 }, (_, i) => `q${i}`).find(
    (queue) => shardOfQueue(world.engine, TEAM, queue) !== shardOfQueue(world.engine, TEAM, 'nightly'),
  )
  const settings = cronSettings({ queue: elsewhere ?? null })
  // Not yet where it goes, there with the old place as well, and no more where it was.
  for (const fault of [
    () => void world.faults.torn.set('set_cron', 1),
    () => void world.faults.lost.add('set_cron'),
    () => void world.faults.lost.add('drop_cron'),
  ]) {
    fault()
    await crons.apply(TEAM, 'nightly', settings).catch(() => undefined)
    assert.deepEqual(await walkCrons(10), [['nightly']])
  }
  world.faults.before = async ({ name }) => {
    if (name !== 'read_crons') return
    world.faults.before = () => undefined
    await crons.apply(TEAM, 'nightly', cronSettings())
  }
  assert.deepEqual(await walkCrons(10), [['nightly']])
})
