import assert from 'node:assert/strict'
import { beforeEach, describe } from 'vitest'
import { ANY_JOB, type JobFilter } from '../../../../src/domain/jobs/job-filter.ts'
import { COSTLY_PER_TEAM_MAX, CostGate } from '../../../../src/domain/shares/cost-gate.ts'
import { createCronStore } from '../../../../src/redis/crons/cron-store.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import { purgeDeadLetters } from '../../../../src/redis/ledger/retention/dead-letters.ts'
import { searchShard } from '../../../../src/redis/jobs/search/search-shard.ts'
import { cronSettings } from '../../../support/engine/cron-settings.ts'
import { claimed, ended, pushAll } from '../../../support/engine/model-executor.ts'
import { AN_ACTOR } from '../../../support/principals.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { systemClock } from '../../../../src/telemetry/system-clock.ts'
import { QueueStage } from '../queues/queue-stage.ts'

const TEAM = 'default'
const LATER = { start: { delaySeconds: 3_600 } } as const
const PLAIN: JobFilter = { ...ANY_JOB, queue: 'emails' }
/** Every job of these tests matches, but its record must be looked at. */
const NARROW: JobFilter = { ...PLAIN, host: 'target.test' }

let redis: TestRedis
let stage: QueueStage
test.beforeAll(({ emptyRedis }) => {
  redis = emptyRedis
})
beforeEach(async () => {
  stage = await QueueStage.open(redis)
  return () => stage.world.close()
})

async function walk(
  filter: JobFilter,
  limit: number,
  between: (pages: number) => Promise<unknown>,
): Promise<number[]> {
  const store = createJobStore(stage.world.engine)
  const ids: number[] = []
  let cursor: string | null = null
  for (let pages = 1; ; pages += 1) {
    const page = await store.list({ team: TEAM, filter, queues: null, limit, cursor })
    assert.ok(typeof page !== 'string')
    assert.ok(page.jobs.length <= limit)
    ids.push(...page.jobs.map(({ jobId }) => jobId))
    cursor = page.nextCursor
    if (cursor === null) return ids
    await between(pages)
  }
}

const cancel = (jobId: number) => createJobStore(stage.world.engine).remove(TEAM, jobId, AN_ACTOR, false)
const purge = (ids: readonly number[]) =>
  purgeDeadLetters(stage.world.engine, stage.shard, { localId: '1', roots: ids.map(String), onlyDue: false })

describe.each([
  ['in the order of the hash', PLAIN],
  ['that are looked through', NARROW],
])('more open jobs than can be ordered, %s', (_, filter) => {
  test.each([1, 7, 100])('come once each in pages of %d while others go and come', async (limit) => {
    const count = limit === 1 ? 1_050 : 1_500
    const ids = await pushAll(stage.intake, count, LATER)
    const gone = new Set(ids.filter((_, i) => i % 10 === 3))
    const going = [...gone]
    const found = await walk(filter, limit, async (pages) => {
      for (const id of going.splice(0, Math.ceil(limit / 10))) await cancel(id)
      if (pages % 50 === 0) await pushAll(stage.intake, 5, LATER)
    })
    assert.equal(new Set(found).size, found.length)
    const missing = ids.filter((id) => !gone.has(id) && !found.includes(id))
    assert.deepEqual(missing, [])
  })

  test.each([1, 64, 400])(
    'are all found by a search that deletes %d at a time what it finds',
    async (limit) => {
      const count = limit === 1 ? 300 : 3_000
      const ids = new Set(await pushAll(stage.intake, count, LATER))
      let from: string | null = null
      do {
        const page = await searchShard(stage.world.engine, {
          team: TEAM,
          shard: 0,
          filter,
          createdBeforeMs: Number.MAX_SAFE_INTEGER,
          from,
          limit,
        })
        assert.ok(page.found.length <= limit)
        for (const { jobId, section, localId } of page.found) {
          assert.deepEqual([section, localId], ['open', '1'])
          assert.ok(ids.delete(jobId), `job ${jobId} came twice`)
          assert.equal((await cancel(jobId)).status, 'removed')
        }
        from = page.next
      } while (from !== null)
      assert.deepEqual([...ids], [])
    },
  )
})

describe('dead letters', () => {
  test.each([1, 7])('come once each in pages of %d while others are purged and come', async (limit) => {
    const before = await stage.makeDeadLetters(60)
    const gone = new Set<number>()
    const found = await walk({ ...NARROW, status: 'dead_lettered' }, limit, async (pages) => {
      // Those listed, those to come, the last one listed.
      const purged = [before[(pages * 13) % 60] ?? 0, before[60 - pages * limit] ?? 0]
      for (const id of purged) gone.add(id)
      await purge(purged)
    })
    assert.equal(new Set(found).size, found.length)
    const missing = before.filter((id) => !gone.has(id) && !found.includes(id))
    assert.deepEqual(missing, [])
    assert.ok(gone.size >= 9)
  })

  test('that go in one millisecond are all found, though they are more than one command reads', async () => {
    const [root = 0] = await stage.makeDeadLetters(1)
    const { deadLetters: x, deadLetterRecords: xb } = stage.shard.queue('1')
    const [record, purgeAt] = [
      await redis.client.hget(xb, String(root)),
      await redis.client.zscore(x, String(root)),
    ]
    const ids = Array.from({ length: 700 }, (_, i) => root + (i + 1) * 16)
    for (const id of ids) {
      await redis.client.hset(xb, String(id), record ?? '')
      await redis.client.zadd(x, purgeAt ?? '', String(id))
    }
    for (const limit of [90, 1_000]) {
      const found = await walk({ ...PLAIN, status: 'dead_lettered' }, limit, () => Promise.resolve())
      assert.deepEqual(
        found.toSorted((a, b) => a - b),
        [root, ...ids],
      )
    }
  })
})

test('a search for many jobs leaves out chains that were made after it began', async () => {
  const [old = 0] = await pushAll(stage.intake, 1, LATER)
  stage.world.clock.advance(10)
  const createdBeforeMs = stage.world.clock.wallMs
  await pushAll(stage.intake, 1, LATER)
  const page = await searchShard(stage.world.engine, {
    team: TEAM,
    shard: 0,
    filter: PLAIN,
    createdBeforeMs,
    from: null,
    limit: 10,
  })
  assert.deepEqual(
    page.found.map(({ jobId }) => jobId),
    [old],
  )
})

test('a page of dead letters reads no more of them than it holds', async () => {
  await stage.makeDeadLetters(30)
  const filter = { ...ANY_JOB, status: 'dead_lettered' } as const
  const pages: number[][] = []
  const search = { team: TEAM, shard: 0, filter, createdBeforeMs: Number.MAX_SAFE_INTEGER }
  let from: string | null = null
  do {
    const page = await searchShard(stage.world.engine, { ...search, from, limit: 12 })
    pages.push([page.found.length, page.searched])
    from = page.next
  } while (from !== null)
  assert.deepEqual(pages, [
    [12, 12],
    [12, 12],
    [6, 6],
  ])
})

describe('a list that is limited to queues', () => {
  test('shows these and no others, whatever it is asked for', async () => {
    for (const queue of ['a', 'b', 'c', 'd']) await pushAll(stage.intake, 2, { queue })
    const store = createJobStore(stage.world.engine)
    const listed = async (queue: string | null, queues: readonly string[], limit = 3) => {
      const names: string[] = []
      let cursor: string | null = null
      do {
        const filter = { ...ANY_JOB, queue }
        const page = await store.list({ team: TEAM, filter, queues: new Set(queues), limit, cursor })
        assert.ok(typeof page !== 'string')
        names.push(...page.jobs.map(({ chain }) => chain.queueName))
        cursor = page.nextCursor
      } while (cursor !== null)
      return names.join('')
    }
    assert.equal(await listed(null, ['d', 'gone', 'b']), 'bbdd')
    assert.equal(await listed(null, ['d', 'gone', 'b'], 1), 'bbdd')
    assert.equal(await listed('b', ['b']), 'bb')
    assert.equal(await listed('a', ['b']), '')
    assert.equal(await listed(null, []), '')
  })
})

describe('what a search reads', () => {
  const LARGE = 1024 * 1024 - 100
  const payload = JSON.stringify({ text: 'x'.repeat(LARGE) })

  test('of payloads is bounded in each command and in each request', async () => {
    await pushAll(stage.intake, 60, { ...LATER, request: { payload } })
    const { runner } = stage.world.engine
    let [largest, all] = [0, 0]
    const store = createJobStore({
      ...stage.world.engine,
      runner: {
        ...runner,
        read: async (ask) => {
          const answer = await runner.read(ask)
          const bytes = JSON.stringify(answer)?.length ?? 0
          largest = Math.max(largest, bytes)
          all += bytes
          return answer
        },
      },
    })
    const filter = { ...PLAIN, text: 'nowhere' }
    let cursor: string | null = null
    let requests = 0
    do {
      all = 0
      const page = await store.list({ team: TEAM, filter, queues: null, limit: 10, cursor })
      assert.ok(typeof page !== 'string')
      assert.deepEqual(page.jobs, [])
      assert.ok((page.searched ?? 0) > 0)
      assert.ok(all < 42 * 1024 * 1024, `${all} bytes in a request`)
      cursor = page.nextCursor
      requests += 1
    } while (cursor !== null)
    assert.ok(largest < 1.1 * 1024 * 1024, `${largest} bytes in a command`)
    assert.ok(requests >= 2)
  })

  test('of payloads too large for one step is found by the next ones', async () => {
    const ids = await pushAll(stage.intake, 24, { ...LATER, request: { payload } })
    const filter = { ...PLAIN, text: 'XXX' }
    const found: number[] = []
    let from: string | null = null
    do {
      const search = { team: TEAM, shard: 0, filter, createdBeforeMs: Number.MAX_SAFE_INTEGER, from }
      const page = await searchShard(stage.world.engine, { ...search, limit: 5 })
      found.push(...page.found.map(({ jobId }) => jobId))
      from = page.next
    } while (from !== null)
    assert.deepEqual(
      found.toSorted((a, b) => a - b),
      ids,
    )
  })

  test.each(['%d+', '.*', '[%a', '"', '\\', 'ä', '\u2028', '💥', "'; FLUSHALL", String.raw`\u00e4`])(
    'for the text %s is that text',
    async (text) => {
      const mine = await pushAll(stage.intake, 1, {
        ...LATER,
        request: { payload: JSON.stringify({ [text]: 1 }) },
      })
      const large = JSON.stringify({ filling: 'f'.repeat(6_000), text: `a${text}b` })
      mine.push(...(await pushAll(stage.intake, 1, { ...LATER, request: { payload: large } })))
      await pushAll(stage.intake, 1, { ...LATER, request: { payload: '{"n":7,"plain":"Text"}' } })
      const found = await walk({ ...PLAIN, text }, 10, () => Promise.resolve())
      assert.deepEqual(
        found.toSorted((a, b) => a - b),
        text === '"' ? found.toSorted((a, b) => a - b) : mine,
      )
      if (text === '"') assert.equal(found.length, 3)
    },
  )
})

test('the runs of a cron are found in its hidden queue, unless the list is limited to queues', async () => {
  const { engine } = stage.world
  const crons = createCronStore(engine)
  const ids: number[] = []
  for (const [name, queue] of [
    ['hidden', null],
    ['through', 'emails'],
  ] as const) {
    const settings = cronSettings({ displayName: name, queue })
    const { cronId } = await crons.apply(TEAM, name, settings)
    assert.equal((await crons.runNow(TEAM, cronId)).status, 'started')
    ids.push(cronId)
  }
  await pushAll(stage.intake, 3)
  const store = createJobStore(engine)
  for (const [i, cronId] of ids.entries()) {
    const filter = { ...ANY_JOB, cronId }
    const query = { team: TEAM, filter, queues: null, limit: 1, cursor: null }
    const rows = await walk(filter, 1, () => Promise.resolve())
    assert.equal(rows.length, 1)
    const limited = await store.list({ ...query, queues: new Set(['emails']) })
    assert.ok(typeof limited !== 'string')
    assert.equal(limited.jobs.length, i)
    const other = await store.list({ ...query, team: 'others' })
    assert.ok(typeof other !== 'string')
    assert.deepEqual(other.jobs, [])
    const search = { team: TEAM, shard: 0, filter, createdBeforeMs: Number.MAX_SAFE_INTEGER, from: null }
    const page = await searchShard(engine, { ...search, limit: 10 })
    assert.deepEqual(
      page.found.map(({ jobId }) => jobId),
      rows,
    )
  }
})

const ORDERS = [undefined, 'newest', 'oldest'] as const

describe.each(ORDERS)('two teams that search at once, in order %s', (order) => {
  const asked = { filter: NARROW, queues: null, limit: 1_000, cursor: null, ...(order && { order }) }
  const inOrder = (ids: readonly number[]) => (order === 'newest' ? ids.toReversed() : ids)

  test('find their own, and a search too many of one is refused', async () => {
    const mine = await pushAll(stage.intake, 300, LATER)
    const theirs = await pushAll(stage.intake, 300, { ...LATER, team: 'others' })
    const store = createJobStore(stage.world.engine, null, new CostGate(systemClock))
    const list = (team: string) => store.list({ ...asked, team })
    const teams = Array.from({ length: 2 * COSTLY_PER_TEAM_MAX + 1 }, (_, i) =>
      i % 2 === 0 ? TEAM : 'others',
    )
    const pages = await Promise.all(teams.map(list))
    assert.equal(pages.pop(), 'too_many_searches')
    for (const [i, page] of pages.entries()) {
      assert.ok(typeof page !== 'string')
      assert.deepEqual(
        page.jobs.map(({ jobId }) => jobId),
        inOrder(i % 2 === 0 ? mine : theirs),
      )
    }
    assert.ok(typeof (await list(TEAM)) !== 'string')
  })

  test('take turns: one search does not wait for all those that the other has under way', async () => {
    await pushAll(stage.intake, 300, LATER)
    await pushAll(stage.intake, 300, { ...LATER, team: 'others' })
    const store = createJobStore(stage.world.engine, null, new CostGate(systemClock))
    const answered: string[] = []
    const list = (team: string) => store.list({ ...asked, team }).then(() => answered.push(team))
    const greedy = Array.from({ length: COSTLY_PER_TEAM_MAX }, () => list(TEAM))
    await Promise.all([...greedy, list('others')])
    assert.ok(answered.indexOf('others') <= 1, `${answered.indexOf('others')} of the others came first`)
  })
})

test('a job that ends after a search has found it, and so is found again, is listed once', async () => {
  const ids = await stage.makeFinished(1)
  ids.push(...(await pushAll(stage.intake, 2)))
  const source = await stage.beat('e2')
  const works = await claimed(source, 1)
  const { runner } = stage.world.engine
  let reads = 0
  const read: typeof runner.read = async (ask) => {
    const answer = await runner.read(ask)
    if (JSON.stringify(answer).includes('target.test')) reads += 1
    // The first read of records tells their order, the second the jobs.
    if (reads === 2) {
      reads += 1
      await source.finish(works.map((work) => ended(stage.world, work)))
    }
    return answer
  }
  const store = createJobStore({ ...stage.world.engine, runner: { ...runner, read } })
  const page = await store.list({ team: TEAM, filter: NARROW, queues: null, limit: 10, cursor: null })
  assert.ok(typeof page !== 'string')
  assert.equal(page.searched, 4)
  assert.deepEqual(
    page.jobs.map(({ jobId }) => jobId).toSorted((a, b) => a - b),
    ids,
  )
})

test('a job that runs keeps its place among those that are ordered and looked through', async () => {
  const ids = await pushAll(stage.intake, 40)
  const source = await stage.beat()
  const found = await walk(NARROW, 3, () => claimed(source, 2))
  assert.deepEqual(found, ids)
})
