import assert from 'node:assert/strict'
import { afterAll, describe, expect } from 'vitest'
import { ANY_JOB, type JobFilter } from '../../../../src/domain/jobs/job-filter.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import type { ListedJob } from '../../../../src/ports/jobs.ts'
import type { RedisConnection } from '../../../../src/redis/base/client/connection.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { drawnSeeds } from '../../../support/engine/drawn-seeds.ts'
import { openConnection, openWorld } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { HOSTS, QUEUES, REASONS, SearchStage, TEAM } from './search-stage.ts'
import { wantedJobs } from './wanted-jobs.ts'

const SEEDS = drawnSeeds(2)
const FILTERS_PER_SEED = 20

let redis: TestRedis
let connection: RedisConnection

test.beforeAll(async ({ emptyRedis }) => {
  redis = emptyRedis
  connection = await openConnection(redis.url)
})
afterAll(() => connection.disconnect())

async function filledStage(seed: number, rounds = 8): Promise<SearchStage> {
  const stage = new SearchStage(await openWorld(redis, { connection, shards: 2 }), seed)
  await stage.prepare()
  for (let round = 0; round < rounds; round += 1) await fill(stage, round)
  return stage
}

async function fill(stage: SearchStage, round: number): Promise<void> {
  await stage.push(30)
  await stage.run(round % 2, round > 5 ? 2 : 0)
  await stage.run((round + 1) % 2)
}

interface Asked {
  readonly order?: 'newest' | 'oldest'
  readonly limit: number
}

async function pageOf(
  stage: SearchStage,
  filter: JobFilter,
  { order = 'newest', limit, cursor }: Asked & { cursor: string | null },
) {
  const by = cursor === null ? { order } : {}
  const page = await stage.store.list({ team: TEAM, filter, queues: null, limit, cursor, ...by })
  assert.ok(typeof page !== 'string')
  assert.ok(page.jobs.length <= limit)
  return page
}

async function listed(stage: SearchStage, filter: JobFilter, asked: Asked): Promise<ListedJob[]> {
  const found: ListedJob[] = []
  let cursor: string | null = null
  do {
    const page = await pageOf(stage, filter, { ...asked, cursor })
    found.push(...page.jobs)
    cursor = page.nextCursor
  } while (cursor !== null)
  return found
}

/** Open jobs by their push, then the others by the end of their chain. */
function ranksOf(
  jobs: readonly ListedJob[],
  order: Asked['order'] = 'newest',
): Array<readonly [number, number]> {
  const sign = order === 'newest' ? -1 : 1
  return jobs.map(({ chain: { open, attempts } }) =>
    open === null
      ? [1, sign * (attempts.at(-1)?.completedAtMs ?? 0)]
      : [0, sign * (attempts[0]?.createdAtMs ?? open.createdAtMs)],
  )
}

function randomFilter(stage: SearchStage): JobFilter {
  const choices: Partial<JobFilter> = {
    queue: stage.pick(QUEUES),
    status: stage.pick(['pending', 'processing', 'completed', 'failed', 'dead_lettered']),
    finalStatus: stage.pick([
      'success',
      'retrying',
      'failed_with_retries',
      'failed_no_retries',
      'dead_lettered',
    ]),
    failureReason: stage.pick(REASONS),
    responseStatus: stage.pick([200, 204, 503]),
    host: stage.pick(HOSTS),
  }
  const names = Object.keys(choices) as Array<keyof JobFilter>
  const chosen = Array.from({ length: stage.pick([0, 1, 1, 2]) }, () => stage.pick(names))
  return { ...ANY_JOB, ...Object.fromEntries(chosen.map((name) => [name, choices[name]])) }
}

const sorted = (ids: readonly number[]) => ids.toSorted((a, b) => a - b)
const idsOf = (jobs: readonly ListedJob[]) => jobs.map(({ jobId }) => jobId)

describe.each(['newest', 'oldest'] as const)('the %s over all queues', (order) => {
  test.each(SEEDS)('come first, each once, in pages of any size, seed %d', async (seed) => {
    const stage = await filledStage(seed)
    const chains = await stage.chains()
    for (let drawn = 0; drawn < FILTERS_PER_SEED; drawn += 1) {
      const filter = randomFilter(stage)
      const jobs = await listed(stage, filter, { order, limit: stage.pick([1, 3, 10, 100]) })
      expect(sorted(idsOf(jobs)), JSON.stringify(filter)).toEqual(sorted(wantedJobs(filter, chains)))
      const ranks = ranksOf(jobs, order)
      expect(ranks, JSON.stringify(filter)).toEqual(ranks.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]))
    }
  })

  test.each(SEEDS)('leave out or repeat no ended job while others end, seed %d', async (seed) => {
    const stage = await filledStage(seed)
    const ended: JobFilter = { ...ANY_JOB, status: stage.pick(['completed', 'dead_lettered', 'failed']) }
    const before = (await stage.chains()).filter((chain) => chain.at(-1)?.completed_at !== null)
    const wanted = wantedJobs(ended, before)
    const found: ListedJob[] = []
    let [cursor, round]: [string | null, number] = [null, 0]
    do {
      const page = await pageOf(stage, ended, { order, limit: stage.pick([2, 5]), cursor })
      found.push(...page.jobs)
      cursor = page.nextCursor
      if (round < 12) await fill(stage, (round += 1))
    } while (cursor !== null)
    // One that was still open may come again once it has ended.
    const ids = idsOf(found).filter((id) => wanted.includes(id))
    expect(sorted(ids)).toEqual(sorted(wanted))
  })
})

test('a cursor goes on in its order, and in no other', async () => {
  const stage = await filledStage(3, 3)
  const asked = { team: TEAM, filter: ANY_JOB, queues: null, limit: 5 }
  const newest = await stage.store.list({ ...asked, cursor: null, order: 'newest' })
  const byQueue = await stage.store.list({ ...asked, cursor: null })
  assert.ok(typeof newest !== 'string' && typeof byQueue !== 'string')
  for (const order of ['queue', 'oldest'] as const) {
    expect(await stage.store.list({ ...asked, cursor: newest.nextCursor, order })).toBe('bad_cursor')
  }
  expect(await stage.store.list({ ...asked, cursor: byQueue.nextCursor, order: 'newest' })).toBe('bad_cursor')
  const [next, explicit] = await Promise.all([
    stage.store.list({ ...asked, cursor: newest.nextCursor }),
    stage.store.list({ ...asked, cursor: newest.nextCursor, order: 'newest' }),
  ])
  expect(next).toEqual(explicit)
})

test('who is limited to queues is shown no other', async () => {
  const stage = await filledStage(4)
  const queues = new Set(['a', 'z'])
  const asked = { team: TEAM, filter: ANY_JOB, queues, limit: 1_000, cursor: null, order: 'newest' } as const
  const page = await stage.store.list(asked)
  assert.ok(typeof page !== 'string')
  expect(new Set(page.jobs.map(({ chain }) => chain.queueName))).toEqual(queues)
})

test('many queues whose jobs end in the same millisecond are paged without loss', async () => {
  const world = await openWorld(redis, { connection, shards: 2 })
  const stage = new SearchStage(world, 5)
  const queues = createQueueStore(world.engine)
  const names = Array.from({ length: 60 }, (_, i) => `q${i}`)
  for (const name of names)
    await queues.apply(TEAM, name, { ...DEFAULT_QUEUE_SETTINGS, retriesEnabled: false })
  for (let round = 0; round < 4; round += 1) {
    await Promise.all(names.map((queue) => stage.pushTo(queue)))
    for (const shard of [0, 1, 0, 1, 0, 1, 0, 1]) await stage.run(shard)
  }
  const jobs = await listed(stage, { ...ANY_JOB, status: stage.pick(['completed', 'failed']) }, { limit: 7 })
  const whole = await listed(stage, ANY_JOB, { limit: 1_000 })
  expect(idsOf(whole).length).toBe(240)
  expect(new Set(idsOf(whole)).size).toBe(240)
  const shown = new Set(idsOf(jobs))
  expect(shown.size).toBe(jobs.length)
  const status = jobs[0]?.chain.attempts[0]?.failureReason === null ? 'completed' : 'failed'
  const wanted = whole.filter(
    ({ chain }) => (chain.attempts[0]?.failureReason === null) === (status === 'completed'),
  )
  expect(sorted([...shown])).toEqual(sorted(idsOf(wanted)))
})

test('several statuses, exclusions and slow calls select as one by one, in both orders', async () => {
  const stage = await filledStage(6)
  const chains = await stage.chains()
  const ids = async (filter: JobFilter) => sorted(idsOf(await listed(stage, filter, { limit: 50 })))
  const all = new Map(chains.flat().map((job) => [job.job_id, job]))
  const statuses = ['pending', 'dead_lettered'] as const
  const either = statuses.flatMap((status) => wantedJobs({ ...ANY_JOB, status }, chains))
  expect(await ids({ ...ANY_JOB, statuses })).toEqual(sorted(either))

  const failed = wantedJobs({ ...ANY_JOB, status: 'failed' }, chains)
  const [host] = HOSTS as [string]
  const not = { failureReason: 'timeout', host, queue: 'z' } as const
  const left = failed.filter((id) => {
    const job = all.get(id)
    return job?.failure_reason !== 'timeout' && job?.queue !== 'z' && !job?.url.includes(`//${host}:`)
  })
  expect(left.length).toBeGreaterThan(0)
  expect(await ids({ ...ANY_JOB, status: 'failed', not })).toEqual(sorted(left))
  const answered = failed.filter((id) => all.get(id)?.response_status !== 503)
  expect(await ids({ ...ANY_JOB, status: 'failed', not: { responseStatus: 503 } })).toEqual(sorted(answered))

  // Each call took 5 ms.
  const ended = wantedJobs({ ...ANY_JOB, ended: { afterMs: 0, beforeMs: null } }, chains)
  expect(await ids({ ...ANY_JOB, slowerThanMs: 4 })).toEqual(sorted(ended))
  expect(await ids({ ...ANY_JOB, slowerThanMs: 5 })).toEqual([])
})
