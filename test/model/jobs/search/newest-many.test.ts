import assert from 'node:assert/strict'
import { afterAll, describe, expect } from 'vitest'
import { ANY_JOB, type JobFilter } from '../../../../src/domain/jobs/job-filter.ts'
import type { JobListPage, JobStore, ListedJob } from '../../../../src/ports/jobs.ts'
import type { RedisConnection } from '../../../../src/redis/base/client/connection.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import { SeededRandom } from '../../../simulation/story/seeded-random.ts'
import { drawnSeeds } from '../../../support/engine/drawn-seeds.ts'
import { openConnection, openWorld } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { TEAM } from './search-stage.ts'
import { type WrittenEnd, WrittenEnds } from './written-ends.ts'

const SEEDS = drawnSeeds(2)
/** A list of the oldest comes to an end only when no others end any more. */
const ADDED_MAX = 100
const SINCE_MS = 1_800_000_000_000
const FAILED: JobFilter = { ...ANY_JOB, status: 'failed' }

let redis: TestRedis
let connection: RedisConnection

test.beforeAll(async ({ emptyRedis }) => {
  redis = emptyRedis
  connection = await openConnection(redis.url)
})
afterAll(() => connection.disconnect())

async function opened() {
  const world = await openWorld(redis, { connection, shards: 2 })
  return { store: createJobStore(world.engine), ends: new WrittenEnds(world, redis) }
}

interface Asked {
  readonly order?: 'newest' | 'oldest'
  readonly limit: number
}

async function pageOf(
  store: JobStore,
  filter: JobFilter,
  { order = 'newest', limit, cursor }: Asked & { cursor: string | null },
): Promise<JobListPage> {
  const by = cursor === null ? { order } : {}
  const page = await store.list({ team: TEAM, filter, queues: null, limit, cursor, ...by })
  assert.ok(typeof page !== 'string')
  return page
}

/** All jobs, in so many pages at most. */
async function listed(
  store: JobStore,
  filter: JobFilter,
  { pagesMax, ...asked }: Asked & { pagesMax: number },
): Promise<ListedJob[]> {
  const jobs: ListedJob[] = []
  let cursor: string | null = null
  for (let pages = 0; pages < pagesMax; pages += 1) {
    const page = await pageOf(store, filter, { ...asked, cursor })
    jobs.push(...page.jobs)
    cursor = page.nextCursor
    if (cursor === null) return jobs
  }
  throw new Error(`the list goes on after ${pagesMax} pages`)
}

const idsOf = (jobs: readonly ListedJob[]) => jobs.map(({ jobId }) => jobId)
const endsOf = (jobs: readonly ListedJob[]) => jobs.map(({ chain }) => chain.attempts[0]?.completedAtMs ?? 0)
const isWanted = (end: WrittenEnd | undefined) => end?.isFailed === true && end.isTombstone !== true
const sorted = (ids: readonly number[]) => ids.toSorted((a, b) => a - b)
const namesOf = (count: number) => Array.from({ length: count }, (_, i) => `q${i}`)

test.each(['newest', 'oldest'] as const)(
  'a rare status over many queues comes to an end, %s first',
  async (order) => {
    const { store, ends } = await opened()
    const wanted: number[] = []
    for (const [i, name] of namesOf(300).entries()) {
      const own = Array.from({ length: 12 }, (_, at) => ({
        endMs: SINCE_MS + 1_000 * at + i,
        isFailed: at === 0,
      }))
      wanted.push((await ends.add(name, own))[0] ?? 0)
    }
    const jobs = await listed(store, FAILED, { order, limit: 50, pagesMax: 10 })
    expect(idsOf(jobs)).toEqual(order === 'oldest' ? wanted : wanted.toReversed())
  },
)

test('many queues whose jobs all ended at once are paged to the end, though few match', async () => {
  const { store, ends } = await opened()
  const wanted: number[] = []
  for (const name of namesOf(260)) {
    const own = Array.from({ length: 100 }, (_, at) => ({ endMs: SINCE_MS, isFailed: at === 50 }))
    wanted.push((await ends.add(name, own))[50] ?? 0)
  }
  const ids = idsOf(await listed(store, FAILED, { limit: 7, pagesMax: 100 }))
  expect(sorted(ids)).toEqual(sorted(wanted))
})

test.each(['newest', 'oldest'] as const)(
  'what ended after a time is listed without what ended long before, %s first',
  async (order) => {
    const { store, ends } = await opened()
    for (const name of namesOf(10)) {
      await ends.add(
        name,
        Array.from({ length: 300 }, (_, at) => ({ endMs: SINCE_MS + 60_000 * at })),
      )
    }
    const ended = { afterMs: SINCE_MS + 60_000 * 298, beforeMs: null }
    const page = await pageOf(store, { ...ANY_JOB, ended }, { order, limit: 100, cursor: null })
    expect(page.jobs.length).toBe(20)
    expect(page.nextCursor).toBeNull()
    expect(page.searched).toBeLessThan(500)
  },
)

test.each([3, 40, 400])(
  '%i replayed dead letters hide nothing that ended before their replay',
  async (count) => {
    const { store, ends } = await opened()
    const wanted: number[] = []
    const times = Array.from({ length: 60 }, (_, at) => SINCE_MS + 5_000 * at)
    const [a, b] = await Promise.all([
      ends.add(
        'a',
        times.map((endMs) => ({ endMs })),
      ),
      ends.add(
        'b',
        times.map((endMs) => ({ endMs: endMs + 1 })),
      ),
    ])
    for (const at of times.keys()) wanted.push(a[at] ?? 0, b[at] ?? 0)
    const replayed = await ends.add(
      'a',
      Array.from({ length: count }, (_, at) => ({ endMs: SINCE_MS - 1_000_000 + at, isReplayed: true })),
    )
    const ids = idsOf(await listed(store, ANY_JOB, { limit: 20, pagesMax: 100 }))
    expect(sorted(ids)).toEqual(sorted([...wanted, ...replayed]))
    expect(ids.filter((id) => !replayed.includes(id))).toEqual(wanted.toReversed())
    const oldest = idsOf(await listed(store, ANY_JOB, { order: 'oldest', limit: 20, pagesMax: 100 }))
    expect(sorted(oldest)).toEqual(sorted(ids))
    expect(oldest.filter((id) => !replayed.includes(id))).toEqual(wanted)
  },
)

test.each(['newest', 'oldest'] as const)(
  'a cursor of the %s names no queue of many with the same end',
  async (order) => {
    const { store, ends } = await opened()
    for (const name of namesOf(120)) await ends.add(name, [{ endMs: SINCE_MS }, { endMs: SINCE_MS }])
    const ids: number[] = []
    let cursor: string | null = null
    do {
      const page = await pageOf(store, ANY_JOB, { order, limit: 25, cursor })
      ids.push(...idsOf(page.jobs))
      cursor = page.nextCursor
      expect(cursor?.length ?? 0).toBeLessThan(100)
    } while (cursor !== null)
    expect(new Set(ids).size).toBe(240)
    expect(ids.length).toBe(240)
  },
)

async function stepsOf(store: JobStore, filter: JobFilter, order: 'newest' | 'oldest'): Promise<number> {
  await redis.client.config('RESETSTAT')
  const page = await pageOf(store, filter, { order, limit: 100, cursor: null })
  expect(page.jobs.length).toBe(100)
  const [, steps = '0'] = /cmdstat_evalsha:calls=(\d+)/.exec(await redis.client.info('commandstats')) ?? []
  return Number(steps)
}

describe.each(['newest', 'oldest'] as const)('a page of the %s takes few steps', (order) => {
  const completed: JobFilter = { ...ANY_JOB, status: 'completed' }

  test('of many queues', async () => {
    const { store, ends } = await opened()
    const deepest = order === 'newest' ? 0 : 23
    for (const [i, name] of namesOf(300).entries()) {
      const own = Array.from({ length: 24 }, (_, at) => ({
        endMs: SINCE_MS + 10_000 * at + i,
        isFailed: at === deepest,
      }))
      await ends.add(name, own)
    }
    // The names of the queues, the next end of each, the chains of the first hundred, and their places afterwards.
    expect(await stepsOf(store, completed, order)).toBeLessThanOrEqual(24)
    // What matches lies deep, so all queues are read together.
    expect(await stepsOf(store, FAILED, order)).toBeLessThanOrEqual(80)
  })

  test('of one queue among others that are idle', async () => {
    const { store, ends } = await opened()
    const busyMs = order === 'newest' ? 1_000_000 : -1_000_000
    await ends.add(
      'busy',
      Array.from({ length: 300 }, (_, at) => ({ endMs: SINCE_MS + busyMs + at })),
    )
    for (const name of namesOf(150)) await ends.add(name, [{ endMs: SINCE_MS }])
    expect(await stepsOf(store, completed, order)).toBeLessThanOrEqual(30)
  })
})

describe.each([
  { order: 'newest', noted: 'in their order', lateMs: 0 },
  { order: 'newest', noted: 'out of their order', lateMs: 120 },
  { order: 'oldest', noted: 'in their order', lateMs: 0 },
  { order: 'oldest', noted: 'out of their order', lateMs: 120 },
] as const)('ends noted $noted, $order first,', ({ order, lateMs }) => {
  test.each(SEEDS)('come once each while others end, seed %d', async (seed) => {
    const { store, ends } = await opened()
    const random = new SeededRandom(seed)
    const below = (count: number) => Math.floor(random.next() * count)
    const wanted: number[] = []
    const names = namesOf(20 + below(60))
    let latestMs = SINCE_MS
    for (const name of names) {
      let endMs = SINCE_MS
      const own = Array.from({ length: 1 + below(60) }, () => ({
        endMs: (endMs += below(5) * below(40)) - below(lateMs),
        isFailed: below(6) === 0,
        isTombstone: below(10) === 0,
      }))
      latestMs = Math.max(latestMs, endMs)
      const ids = await ends.add(name, own)
      wanted.push(...ids.filter((_, at) => isWanted(own[at])))
    }
    const found: ListedJob[] = []
    let [cursor, added]: [string | null, number] = [null, 0]
    do {
      const page = await pageOf(store, FAILED, { order, limit: 1 + below(20), cursor })
      found.push(...page.jobs)
      cursor = page.nextCursor
      latestMs += 1
      added += 1
      if (added <= ADDED_MAX)
        await ends.add(names[below(names.length)] ?? '', [{ endMs: latestMs, isFailed: true }])
    } while (cursor !== null)
    // Jobs that end meanwhile come at the end of a list of the oldest.
    const shown = found.filter(({ jobId }) => wanted.includes(jobId))
    expect(sorted(idsOf(shown))).toEqual(sorted(wanted))
    if (order === 'newest') expect(shown.length).toBe(found.length)
    const sign = order === 'newest' ? -1 : 1
    if (lateMs === 0) expect(endsOf(found)).toEqual(endsOf(found).toSorted((a, b) => sign * (a - b)))
  })
})
