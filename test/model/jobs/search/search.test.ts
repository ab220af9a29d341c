import assert from 'node:assert/strict'
import { afterAll, describe } from 'vitest'
import { ANY_JOB, type JobFilter, type TimeRange } from '../../../../src/domain/jobs/job-filter.ts'
import type { RedisConnection } from '../../../../src/redis/base/client/connection.ts'
import { searchShard } from '../../../../src/redis/jobs/search/search-shard.ts'
import { drawnSeeds } from '../../../support/engine/drawn-seeds.ts'
import { openConnection, openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { HOSTS, QUEUES, REASONS, SearchStage, TAGS, TEAM, TEXTS } from './search-stage.ts'
import { wantedJobs } from './wanted-jobs.ts'

const SEEDS = drawnSeeds(2)
const FILTERS_PER_SEED = 45

let redis: TestRedis
let connection: RedisConnection

test.beforeAll(async ({ emptyRedis }) => {
  redis = emptyRedis
  connection = await openConnection(redis.url)
})
afterAll(() => connection.disconnect())

async function openStage(seed: number): Promise<SearchStage> {
  const stage = new SearchStage(await openWorld(redis, { connection, shards: 2 }), seed)
  await stage.prepare()
  return stage
}

/** Jobs in all sections. */
async function filledStage(seed: number): Promise<SearchStage> {
  const stage = await openStage(seed)
  for (let round = 0; round < 6; round += 1) {
    await stage.push(30)
    await stage.run(round % 2, round > 3 ? 2 : 0)
    await stage.run((round + 1) % 2)
  }
  return stage
}

function randomFilter(stage: SearchStage, times: readonly number[]): JobFilter {
  const range = (): TimeRange => {
    const [a, b] = [stage.pick(times), stage.pick([...times, null])]
    return b === null || b < a
      ? { afterMs: a, beforeMs: b === null ? null : a + 1 }
      : { afterMs: null, beforeMs: b }
  }
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
    tag: { name: stage.pick(['tenant', 'tenant', 'toString']), value: stage.pick(TAGS) },
    created: range(),
    scheduled: range(),
    ended: range(),
    text: stage.pick([...TEXTS.slice(0, -1), 'order-7=2', '.', 'l'.repeat(256)]),
  }
  const names = Object.keys(choices) as Array<keyof JobFilter>
  const chosen = Array.from({ length: stage.pick([0, 1, 1, 1, 2, 2, 3]) }, () => stage.pick(names))
  return { ...ANY_JOB, ...Object.fromEntries(chosen.map((name) => [name, choices[name]])) }
}

async function listed(stage: SearchStage, filter: JobFilter, limit: number): Promise<number[]> {
  const found: number[] = []
  let cursor: string | null = null
  do {
    const page = await stage.store.list({ team: TEAM, filter, queues: null, limit, cursor })
    assert.ok(typeof page !== 'string')
    assert.ok(page.jobs.length <= limit)
    found.push(...page.jobs.map(({ jobId }) => jobId))
    cursor = page.nextCursor
  } while (cursor !== null)
  return found
}

async function found(
  { engine }: World,
  filter: JobFilter,
  limit: number,
  createdBeforeMs: number,
): Promise<number[]> {
  const found: number[] = []
  for (const { shard } of engine.shards) {
    let from: string | null = null
    do {
      const page = await searchShard(engine, { team: TEAM, shard, filter, createdBeforeMs, from, limit })
      assert.ok(page.found.length <= limit)
      for (const { jobId, rootId } of page.found) {
        assert.equal(rootId, engine.jobIds.rootOf(jobId))
        assert.equal(engine.jobIds.shardOf(jobId), shard)
        found.push(jobId)
      }
      from = page.next
    } while (from !== null)
  }
  return found
}

const sorted = (ids: readonly number[]) => ids.toSorted((a, b) => a - b)

describe.each(SEEDS)('jobs of all kinds, seed %d', (seed) => {
  test('are found by every filter, and no others, in pages of any size', async () => {
    const stage = await filledStage(seed)
    const chains = await stage.chains()
    const times = chains
      .flat()
      .flatMap(({ created_at, scheduled_at, completed_at }) =>
        [created_at, scheduled_at, completed_at].flatMap((at) =>
          at === null ? [] : [new Date(at).getTime()],
        ),
      )
    let matched = 0
    for (let i = 0; i < FILTERS_PER_SEED; i += 1) {
      const filter = randomFilter(stage, times)
      const limit = stage.pick([1, 3, 10, 1_000])
      const wanted = sorted(wantedJobs(filter, chains))
      matched += wanted.length
      assert.deepEqual(sorted(await listed(stage, filter, limit)), wanted, JSON.stringify({ filter, limit }))
      const inShards = await found(stage.world, filter, limit, Number.MAX_SAFE_INTEGER)
      assert.deepEqual(sorted(inShards), wanted, JSON.stringify({ filter, limit }))
    }
    assert.ok(matched > 10 * FILTERS_PER_SEED, `only ${matched} jobs matched`)
  })
})
