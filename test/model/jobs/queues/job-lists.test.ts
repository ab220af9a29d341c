import assert from 'node:assert/strict'
import { afterAll, beforeEach, describe } from 'vitest'
import { ANY_JOB, type JobFilter } from '../../../../src/domain/jobs/job-filter.ts'
import { viewJob } from '../../../../src/domain/jobs/job-view.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import type { JobIntake, JobListQuery, JobStore, ListedJob } from '../../../../src/ports/jobs.ts'
import type { RedisConnection } from '../../../../src/redis/base/client/connection.ts'
import { shardOfQueue } from '../../../../src/redis/base/engine/engine.ts'
import { formatJobCursor, type ListPosition } from '../../../../src/redis/jobs/search/job-cursor.ts'
import { formatCursor } from '../../../../src/redis/base/names/list-cursor.ts'
import { ORDERED_JOBS_MAX } from '../../../../src/redis/jobs/search/sections/open-jobs.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { commandsDuring } from '../../../support/servers/command-counts.ts'
import { claimed, ended, openExecutor, pushAll, pushOne } from '../../../support/engine/model-executor.ts'
import { openConnection, openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'

const TEAM = 'default'
/** The query of a list, in one level. */
type Asked = Pick<JobListQuery, 'limit' | 'cursor' | 'team'> & Partial<JobFilter>
const ALL: Asked = { team: TEAM, limit: 100, cursor: null }
const ONE: Asked = { ...ALL, queue: 'emails' }
const STATUSES = ['pending', 'processing', 'completed', 'failed', 'dead_lettered'] as const

let redis: TestRedis
let connection: RedisConnection
let world: World
let intake: JobIntake
let store: JobStore
let executors = 0

test.beforeAll(async ({ emptyRedis }) => {
  redis = emptyRedis
  connection = await openConnection(redis.url)
})
afterAll(() => connection.disconnect())
beforeEach(async () => {
  world = await openWorld(redis, { connection, shards: 1 })
  intake = world.newIntake()
  store = createJobStore(world.engine)
})

function queryOf({ team, limit, cursor, ...filter }: Asked): JobListQuery {
  return { team, filter: { ...ANY_JOB, ...filter }, queues: null, limit, cursor }
}

async function page(query: Asked) {
  const found = await store.list(queryOf(query))
  assert.ok(typeof found !== 'string')
  assert.ok(found.jobs.length <= query.limit, `${found.jobs.length} rows on a page of ${query.limit}`)
  return found
}

/** All rows that pages of this size lead to. */
async function walk(
  query: Asked,
  between: (pages: number) => unknown = () => undefined,
): Promise<ListedJob[]> {
  const rows: ListedJob[] = []
  let cursor: string | null = null
  let pages = 0
  do {
    const found: Awaited<ReturnType<typeof page>> = await page({ ...query, cursor })
    rows.push(...found.jobs)
    cursor = found.nextCursor
    pages += 1
    assert.ok(pages < 3_000, 'the cursors lead nowhere')
    await between(pages)
  } while (cursor !== null)
  return rows
}

const idsOf = (rows: readonly ListedJob[]) => rows.map(({ jobId }) => jobId)
const statusOf = ({ chain, jobId }: ListedJob) => viewJob(chain, jobId, world.engine.jobIds)?.status
const sorted = (ids: Iterable<number>) => [...ids].toSorted((a, b) => a - b)

/** Another one each time: two by one name would get the same claims. */
function nextExecutor() {
  executors += 1
  return openExecutor(world, `e${executors}`)
}

/** Ends everything that is ready, as a success or not. */
async function endAll(failed: boolean): Promise<number[]> {
  const source = await nextExecutor()
  const works = await claimed(source, 64)
  await source.finish(works.map((work) => ended(world, work, { failed })))
  return works.map(({ jobId }) => jobId)
}

async function applyDelays(retryDelays: number[], retriesEnabled = true): Promise<void> {
  const settings = { ...DEFAULT_QUEUE_SETTINGS, retryDelays, retriesEnabled }
  await createQueueStore(world.engine).apply(TEAM, 'emails', settings)
}

/** A queue with a job of every kind; answers which is which. */
async function everyKind() {
  await applyDelays([], false)
  const failedOnce = await pushOne(intake)
  await endAll(true)
  await applyDelays([1])
  const deadBefore = await pushOne(intake)
  await endAll(true)
  world.clock.advance(1_000)
  await createShardMaintenance(world.engine, 0).promote()
  await endAll(true)
  const [saved = 0, dead = 0] = await pushAll(intake, 2)
  await endAll(true)
  world.clock.advance(1_000)
  await createShardMaintenance(world.engine, 0).promote()
  const source = await nextExecutor()
  const retries = await claimed(source, 64)
  await source.finish(
    retries.map((work) => ended(world, work, { failed: world.engine.jobIds.rootOf(work.jobId) === dead })),
  )
  const completed = await pushOne(intake)
  await endAll(false)
  await applyDelays([3_600])
  const retrying = await pushOne(intake)
  await endAll(true)
  const processing = await pushOne(intake)
  await claimed(await nextExecutor(), 64)
  const ready = await pushOne(intake)
  const near = await pushOne(intake, { start: { delaySeconds: 20 } })
  const late = await pushOne(intake, { start: { delaySeconds: 7_200 } })
  return { failedOnce, deadBefore, saved, dead, completed, retrying, processing, ready, near, late }
}

describe('the jobs of a queue', () => {
  test('come by due time as long as they have not ended, in pages of any size', async () => {
    const delays = [3_600, 5, 90, 0, 61, 0, 59, 7_200, 130, 0, 86_400, 60, 2, 125]
    const dueOf = new Map<number, number>()
    for (const delaySeconds of delays) {
      const id = await pushOne(intake, { start: { delaySeconds } })
      dueOf.set(id, world.clock.wallMs + delaySeconds * 1_000)
      world.clock.advance(7)
    }
    const byDue = [...dueOf].toSorted(([a, dueA], [b, dueB]) => dueA - dueB || a - b).map(([id]) => id)
    for (const limit of [1, 2, 5, 100]) assert.deepEqual(idsOf(await walk({ ...ONE, limit })), byDue)
    // Promoted, in flight or not, each stays where it was.
    world.clock.advance(62_000)
    await createShardMaintenance(world.engine, 0).promote()
    const inFlight = await claimed(await nextExecutor(), 2)
    assert.equal(inFlight.length, 2)
    for (const limit of [1, 3, 100]) {
      assert.deepEqual(idsOf(await walk({ ...ONE, limit })), byDue)
      const processing = idsOf(await walk({ ...ONE, limit, status: 'processing' }))
      assert.deepEqual(sorted(processing), sorted(inFlight.map(({ jobId }) => jobId)))
      const pending = idsOf(await walk({ ...ONE, limit, status: 'pending' }))
      assert.deepEqual(
        pending,
        byDue.filter((id) => !processing.includes(id)),
      )
    }
  })

  test('come newest first once they have ended, dead letters before the others', async () => {
    const { failedOnce, deadBefore, saved, dead, completed, retrying, processing, ready, near, late } =
      await everyKind()
    const second = await pushOne(intake, { queue: 'emails' })
    const rows = idsOf(await walk({ ...ONE, limit: 2 }))
    const retry = world.engine.jobIds.idOf(0, world.engine.jobIds.seqOf(retrying), 2)
    const open = [processing, ready, second, near, retry, late]
    assert.deepEqual(rows, [...open, dead, deadBefore, completed, saved, failedOnce])
  })

  test.each([1, 3, 100])('of a status are those and no others, in pages of %d', async (limit) => {
    const kinds = await everyKind()
    const { jobIds } = world.engine
    const retryOf = (root: number) => jobIds.idOf(0, jobIds.seqOf(root), 2)
    const expected = {
      pending: [kinds.ready, kinds.near, kinds.late, retryOf(kinds.retrying)],
      processing: [kinds.processing],
      completed: [kinds.completed, retryOf(kinds.saved)],
      failed: [kinds.failedOnce, kinds.saved, kinds.dead, kinds.deadBefore, kinds.retrying],
      dead_lettered: [kinds.dead, kinds.deadBefore],
    }
    for (const status of STATUSES) {
      const rows = await walk({ ...ONE, status, limit })
      assert.deepEqual(sorted(idsOf(rows)), sorted(expected[status]), status)
      const shown = status === 'dead_lettered' ? 'failed' : status
      for (const row of rows) assert.equal(statusOf(row), shown)
    }
  })

  test('are all found by a walk though they are claimed and others come meanwhile', async () => {
    const early = await pushAll(intake, 20)
    const later = await pushAll(intake, 20, { start: { delaySeconds: 5 } })
    const source = await nextExecutor()
    const rows = await walk({ ...ONE, limit: 3 }, async (pages) => {
      if (pages <= 6) await claimed(source, 3)
      if (pages === 4) await pushAll(intake, 5)
    })
    const found = idsOf(rows)
    assert.equal(new Set(found).size, found.length)
    for (const id of [...early, ...later]) assert.ok(found.includes(id), `job ${id} is missing`)
  })

  test('are all found, and none twice, where they are too many to be ordered', async () => {
    const ids = await pushAll(intake, ORDERED_JOBS_MAX + 50, { start: { delaySeconds: 30 } })
    for (const limit of [70, 1_000]) {
      assert.deepEqual(sorted(idsOf(await walk({ ...ONE, limit }))), sorted(ids))
      assert.deepEqual(sorted(idsOf(await walk({ ...ONE, limit, status: 'pending' }))), sorted(ids))
    }
    const { hscan } = await commandsDuring(redis.client, () => page({ ...ONE, limit: 10 }))
    assert.equal(hscan, 1)
    const source = await nextExecutor()
    const [first] = await pushAll(intake, 1)
    await claimed(source, 1)
    assert.deepEqual(idsOf(await walk({ ...ONE, status: 'processing' })), [first])
  })

  test.each([ORDERED_JOBS_MAX + 1, 2 * ORDERED_JOBS_MAX + 1])(
    'are all found where they become %d during a walk',
    async (count) => {
      const ids = await pushAll(intake, 100, { start: { delaySeconds: 30 } })
      const rows = await walk({ ...ONE, limit: 60 }, async (pages) => {
        if (pages === 1) await pushAll(intake, count - 100, { start: { delaySeconds: 10 } })
      })
      const found = new Set(idsOf(rows))
      for (const id of ids) assert.ok(found.has(id), `job ${id} is missing`)
    },
  )

  test('are not more than a page holds where others come while it is read', async () => {
    await pushAll(intake, 3)
    await pushAll(intake, 20, { queue: 'other' })
    const { runner } = world.engine
    let pushes = 0
    const busy = createJobStore({
      ...world.engine,
      runner: {
        ...runner,
        read: async (ask) => {
          const answer = await runner.read(ask)
          pushes += 1
          if (pushes <= 2) await pushAll(intake, 1)
          return answer
        },
      },
    })
    const found = await busy.list(queryOf({ ...ALL, limit: 10 }))
    assert.ok(typeof found !== 'string' && pushes > 2)
    assert.equal(found.jobs.length, 10)
  })

  test('are listed beside one whose due time cannot be read', async () => {
    const [bad = 0, good = 0] = await pushAll(intake, 2)
    const { records: b } = shardOfQueue(world.engine, TEAM, 'emails').queue('1')
    await redis.client.hset(b, String(bad), 'x')
    for (const limit of [1, 10]) assert.ok(idsOf(await walk({ ...ONE, limit })).includes(good))
  })
})

describe('the jobs of many queues', () => {
  beforeEach(async () => {
    world = await openWorld(redis, { connection, shards: 4 })
    intake = world.newIntake()
    store = createJobStore(world.engine)
  })
  const named = (count: number) =>
    Array.from({ length: count }, (_, i) => `queue ${String(i).padStart(3, '0')}`)

  test('come queue by queue in the order of the names, and fill their pages', async () => {
    const expected: number[] = []
    for (const [i, queue] of named(30).entries()) {
      if (i % 4 === 3) await createQueueStore(world.engine).apply(TEAM, queue, DEFAULT_QUEUE_SETTINGS)
      else expected.push(...(await pushAll(intake, 1 + (i % 3), { queue })))
    }
    for (const limit of [1, 4, 7, 100]) assert.deepEqual(idsOf(await walk({ ...ALL, limit })), expected)
    const first = await page({ ...ALL, limit: 7 })
    assert.equal(first.jobs.length, 7)
  })

  test('take few round trips, whether queues are empty or hold a job each', async () => {
    const queues = named(100)
    await Promise.all(
      queues.map((name) => createQueueStore(world.engine).apply(TEAM, name, DEFAULT_QUEUE_SETTINGS)),
    )
    const { runner } = world.engine
    let under = 0
    let rounds = 0
    const counted = async <T>(act: () => Promise<T>): Promise<T> => {
      // What is sent while something is under way costs no round trip of its own.
      if (under === 0) rounds += 1
      under += 1
      try {
        return await act()
      } finally {
        under -= 1
      }
    }
    const store = createJobStore({
      ...world.engine,
      runner: {
        ...runner,
        run: (call, resendForMs) => counted(() => runner.run(call, resendForMs)),
        read: (ask) => counted(() => runner.read(ask)),
      },
    })
    await store.list(queryOf(ALL))
    assert.ok(rounds <= 3, `${rounds} round trips for empty queues`)
    await Promise.all(queues.map((queue) => pushOne(intake, { queue })))
    rounds = 0
    const full = await store.list(queryOf(ALL))
    assert.ok(typeof full !== 'string' && full.jobs.length === 100)
    assert.ok(rounds <= 25, `${rounds} round trips for a job in each`)
  })

  test('lead on where a request has looked at as many queues as it may', async () => {
    const queues = named(520)
    await Promise.all(
      queues.map((name) => createQueueStore(world.engine).apply(TEAM, name, DEFAULT_QUEUE_SETTINGS)),
    )
    const ids: number[] = []
    // The last ones looked at together, and by one request.
    for (const at of [99, 499, 519]) ids.push(await pushOne(intake, { queue: queues[at] ?? '' }))
    const first = await page(ALL)
    assert.deepEqual(idsOf(first.jobs), ids.slice(0, 2))
    assert.deepEqual(idsOf(await walk(ALL)), ids)
  })

  test('cost a page what it shows, however many jobs there are behind it', async () => {
    await pushAll(intake, 200)
    const listed = () => page({ ...ALL, limit: 50 })
    const few = await commandsDuring(redis.client, listed)
    await pushAll(intake, 300, { queue: 'zoo' })
    const many = await commandsDuring(redis.client, listed)
    const sum = (counts: Record<string, number>) => Object.values(counts).reduce((all, each) => all + each, 0)
    assert.ok(sum(many) <= sum(few) + 4, JSON.stringify([few, many]))
  })
})

describe('a cursor of jobs', () => {
  const spot = { kind: 'due', dueMs: 1, id: 1 } as const
  const position: ListPosition = { queue: 'emails', section: 'open', spot }
  const cursorOf = (asked: Asked, at: ListPosition) => formatJobCursor(queryOf(asked), at)
  /** The first eight characters of a cursor are the hash of its list. */
  const raw = (text: string) => {
    const bytes = Buffer.from(cursorOf(ALL, position), 'base64url').subarray(0, 8)
    return Buffer.concat([bytes, Buffer.from(text)]).toString('base64url')
  }
  const own = cursorOf(ALL, position)

  test.each<readonly [string, Partial<Asked>, string]>([
    ['of another queue', { queue: 'others' }, own],
    ['of all queues, given for the queue that it is in', { queue: 'emails' }, own],
    ['of one queue, given for all', {}, cursorOf(ONE, position)],
    ['of another status', { status: 'completed' }, own],
    ['of all statuses, given for one with the same section', { status: 'pending' }, own],
    [
      'of pending jobs, given for processing ones',
      { status: 'processing' },
      cursorOf({ ...ALL, status: 'pending' }, position),
    ],
    ['of another team', { team: 'others' }, own],
    ['of a list of queues', {}, formatCursor(['queues', TEAM], 'o.1.1.emails')],
    ['past what HSCAN takes', {}, raw('s.18446744073709551616.0.emails')],
    ['past what is counted', {}, raw('d.9007199254740993.0.emails')],
    ['with a job past what is counted', {}, raw('s.0.1-9007199254740993.emails')],
    ['with jobs that are none', {}, raw('e.0.1-.emails')],
    ['with a part that is none', {}, raw('o.-1.0.emails')],
    ['with a section that is none', {}, raw('z.1.0.emails')],
    ['of before', {}, raw('["emails","open","0",0]')],
    ['with something behind it', {}, `${own}=`],
    ['of nothing', {}, ''],
  ])('%s is refused', async (_, change, cursor) => {
    await pushOne(intake)
    assert.equal(await store.list(queryOf({ ...ALL, ...change, cursor })), 'bad_cursor')
  })

  test.each([
    's.18446744073709551615.9007199254740991.emails',
    's.0.9007199254740991-1.emails',
    's.0..emails',
    'e.0.1-2.emails',
    'e.0..emails',
    'o.1.0.',
    'o.9007199254740991.9007199254740991.emails',
    'd.0.0.emails',
    'f.9007199254740991.0.emails',
    'q.0.0.zzz',
    'o.1.1.gone',
  ])('that nobody gave but might have, %s, leads to an end', async (text) => {
    await pushAll(intake, 3)
    const found = await page({ ...ALL, cursor: raw(text) })
    assert.equal(found.nextCursor, null)
  })
})
