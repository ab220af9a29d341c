import assert from 'node:assert/strict'
import { afterAll, expect } from 'vitest'
import { ANY_JOB, type JobFilter } from '../../../../src/domain/jobs/job-filter.ts'
import { hostOf } from '../../../../src/domain/jobs/job-match.ts'
import type { DeadLetterGroup } from '../../../../src/ports/jobs.ts'
import type { RedisConnection } from '../../../../src/redis/base/client/connection.ts'
import { openConnection, openWorld } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { HOSTS, type KnownJob, SearchStage, TEAM } from './search-stage.ts'

let redis: TestRedis
let connection: RedisConnection

test.beforeAll(async ({ emptyRedis }) => {
  redis = emptyRedis
  connection = await openConnection(redis.url)
})
afterAll(() => connection.disconnect())

async function filledStage(): Promise<SearchStage> {
  const stage = new SearchStage(await openWorld(redis, { connection, shards: 2 }), 1)
  await stage.prepare()
  for (let round = 0; round < 10; round += 1) {
    await stage.push(30)
    await stage.run(0)
    await stage.run(1)
  }
  return stage
}

async function grouped(stage: SearchStage, filter: JobFilter): Promise<Map<string, DeadLetterGroup>> {
  const all = new Map<string, DeadLetterGroup>()
  let cursor: string | null = null
  do {
    const page = await stage.store.deadLetterGroups({ team: TEAM, filter, queues: null, cursor })
    assert.ok(typeof page !== 'string')
    for (const group of page.groups) {
      all.set([group.queueName, group.failureReason, group.responseStatus, group.host].join(), group)
    }
    cursor = page.nextCursor
  } while (cursor !== null)
  return all
}

/** What the API shows of each dead letter, grouped by hand. */
function wanted(jobs: readonly KnownJob[]): Map<string, KnownJob[]> {
  return Map.groupBy(jobs, (job) =>
    [job.queue, job.failure_reason, job.response_status, hostOf(job.url)].join(),
  )
}

test('every dead letter is in one group, with the first and last end of its kind', async () => {
  const stage = await filledStage()
  const dead = (await stage.chains())
    .flatMap(([original]) => original ?? [])
    .filter((job) => job.final_status === 'dead_lettered' && job.replayed_as === null)
  expect(dead.length).toBeGreaterThan(20)
  const groups = await grouped(stage, ANY_JOB)
  const byHand = wanted(dead)
  expect([...groups.keys()].toSorted()).toEqual([...byHand.keys()].toSorted())
  for (const [key, jobs] of byHand) {
    const ends = jobs.map((job) => Date.parse(job.completed_at ?? ''))
    const group = groups.get(key)
    expect([group?.count, group?.firstEndedAtMs, group?.lastEndedAtMs]).toEqual([
      jobs.length,
      Math.min(...ends),
      Math.max(...ends),
    ])
    expect(jobs.map((job) => job.job_id)).toContain(group?.newestJobId)
    // Purged when the retention of its queue is over, counted from the last attempt of the chain.
    const ended = Math.min(...jobs.map((job) => Date.parse(job.dead_lettered_at ?? '')))
    expect(group?.nextPurgeAtMs).toBeGreaterThan(ended)
  }

  const [host] = HOSTS
  const ofHost = await grouped(stage, { ...ANY_JOB, host: host as string, failureReason: 'timeout' })
  expect([...ofHost.keys()].toSorted()).toEqual(
    [...byHand.keys()].filter((key) => key.includes(`,timeout,,${host}`)).toSorted(),
  )
})

test('a cursor of the list of jobs is none of the groups', async () => {
  const stage = await filledStage()
  const filter: JobFilter = { ...ANY_JOB, status: 'dead_lettered' }
  const page = await stage.store.list({ team: TEAM, filter, queues: null, limit: 1, cursor: null })
  assert.ok(typeof page !== 'string' && page.nextCursor !== null)
  const asked = { team: TEAM, filter, queues: null, cursor: page.nextCursor }
  expect(await stage.store.deadLetterGroups(asked)).toBe('bad_cursor')
})

test('who is limited to queues is told of no other', async () => {
  const stage = await filledStage()
  const asked = { team: TEAM, filter: ANY_JOB, queues: new Set(['a', 'z']), cursor: null }
  const page = await stage.store.deadLetterGroups(asked)
  assert.ok(typeof page !== 'string')
  expect(new Set(page.groups.map((group) => group.queueName))).toEqual(new Set(['a']))
})
