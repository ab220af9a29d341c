import assert from 'node:assert/strict'
import { afterAll, beforeEach, describe } from 'vitest'
import {
  ISSUE_DAYS,
  ISSUE_QUIET_MS,
  ISSUES_PER_QUEUE_MAX,
  ISSUES_PER_SHARD_MIN,
} from '../../../../src/domain/limits.ts'
import type { JobSource } from '../../../../src/ports/jobs.ts'
import type { RedisConnection } from '../../../../src/redis/base/client/connection.ts'
import { shardKeys, shardOfQueue } from '../../../../src/redis/base/engine/engine.ts'
import { createAuditLog } from '../../../../src/redis/ledger/audit-log/audit-log.ts'
import { createIssueStore } from '../../../../src/redis/ledger/issues/issue-store.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { assertClean, openExecutor } from '../../../support/engine/model-executor.ts'
import { openConnection, openWorld, type World } from '../../../support/engine/model-world.ts'
import { AN_ACTOR } from '../../../support/principals.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { endJobs, issuesOf, told, type Ends } from './issue-stage.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

let redis: TestRedis
let connection: RedisConnection
let world: World
let source: JobSource

test.beforeAll(async ({ emptyRedis }) => {
  redis = emptyRedis
  connection = await openConnection(redis.url)
})
afterAll(() => connection.disconnect())
beforeEach(async () => {
  world = await openWorld(redis, { connection, shards: 1 })
  source = await openExecutor(world, 'one')
})

const fail = (...ends: Ends[]) => endJobs(world, source, ends)
const sweep = () => createShardMaintenance(world.engine, 0).sweep()
const lines = async () => (await issuesOf(world)).map(told).toSorted()

async function pass(ms: number): Promise<void> {
  world.clock.advance(ms)
  await source.beat(true)
}

async function theOne() {
  const [issue, ...more] = await issuesOf(world)
  assert.ok(issue !== undefined && more.length === 0)
  return issue
}

const change = async (
  name: 'acknowledge' | 'mute' | 'resolve' | 'reopen',
  mutedUntilMs: number | null = null,
) =>
  createIssueStore(world.engine).change({
    team: 'default',
    issueId: (await theOne()).id,
    change: name,
    mutedUntilMs,
    actor: AN_ACTOR,
  })

describe('failures', () => {
  test('are grouped by queue and host, with dead letters told apart, and successes leave nothing', async () => {
    await fail({ count: 2 }, { isLast: true, queue: 'other' }, { host: 'b.example.com' }, { failed: false })
    assert.deepEqual(await lines(), [
      'queue emails: 500 from a.example.com open 2/0',
      'queue emails: 500 from b.example.com open 1/0',
      'queue other: 500 from a.example.com open 1/1',
    ])
    await assertClean(world)
  })

  test('of one group keep its id and are counted by the hour, with the newest sample', async () => {
    const [first] = await fail({})
    const before = await theOne()
    assert.equal(before.sampleJobId, first)
    await pass(HOUR_MS)
    const [second] = await fail({})
    const issue = await theOne()
    assert.deepEqual([issue.id, issue.sampleJobId, issue.firstAtMs], [before.id, second, before.firstAtMs])
    assert.ok(issue.lastAtMs >= before.lastAtMs + HOUR_MS)
    assert.deepEqual(
      issue.hours.map(({ atMs, failed }) => [atMs, failed]),
      [before, issue].map(({ lastAtMs }) => [Math.floor(lastAtMs / HOUR_MS) * HOUR_MS, 1]),
    )
  })

  test('count for seven days, and then the issue is removed', async () => {
    await fail({ count: 3 })
    await pass(ISSUE_DAYS * DAY_MS - 2 * HOUR_MS)
    await fail({})
    await pass(3 * HOUR_MS)
    assert.equal((await theOne()).hours.length, 1)
    await fail({})
    const text = Object.values(await redis.client.hgetall(shardKeys(world.engine, 0).issues('default')))
    assert.ok(!text.some((value) => value.includes(':3:')), 'an hour past the bound is still stored')
    await pass(ISSUE_DAYS * DAY_MS)
    assert.deepEqual(await issuesOf(world), [])
    await sweep()
    assert.equal(await redis.client.exists(shardKeys(world.engine, 0).issues('default')), 0)
    assert.equal(await redis.client.zcard(shardKeys(world.engine, 0).issuesDue), 0)
    await assertClean(world)
  })

  test('of a deleted queue are gone at once, and removed', async () => {
    await fail({}, { queue: 'other' })
    await createQueueStore(world.engine).remove('default', 'other')
    assert.deepEqual(await lines(), ['queue emails: 500 from a.example.com open 1/0'])
    await sweep()
    const fields = await redis.client.hkeys(shardKeys(world.engine, 0).issues('default'))
    assert.equal(fields.length, 2, 'the issue of the other queue, and the note of its share')
    await assertClean(world)
  })
})

describe('the share of a queue', () => {
  const hosts = (count: number, from = 0): Ends[] =>
    Array.from({ length: count }, (_, i) => ({ host: `h${from + i}.example.com` }))
  const ofHosts = async () => (await issuesOf(world)).filter(({ host }) => host !== null)
  const others = async () => (await issuesOf(world)).filter(({ host }) => host === null)

  test('bounds its issues; the rest is counted together, and what fails often stays', async () => {
    await fail({ host: 'big.example.com', count: 5 })
    await fail(...hosts(ISSUES_PER_QUEUE_MAX - 1))
    assert.equal((await ofHosts()).length, ISSUES_PER_QUEUE_MAX)
    assert.deepEqual(await others(), [])
    // Room is made once: the quarter goes, and one comes in.
    await fail(...hosts(15, 100))
    const kept = await ofHosts()
    assert.equal(kept.length, ISSUES_PER_QUEUE_MAX - ISSUES_PER_QUEUE_MAX / 4 + 10)
    const [other] = await others()
    assert.deepEqual([other?.resource.name, other?.failureReason], ['emails', null])
    const all = await issuesOf(world)
    const failed = all.flatMap(({ hours }) => hours).reduce((sum, hour) => sum + hour.failed, 0)
    assert.equal(failed, 5 + ISSUES_PER_QUEUE_MAX - 1 + 15)
    // Room is made again after a minute, not before.
    await fail(...hosts(1, 300))
    assert.ok(!(await ofHosts()).some(({ host }) => host === 'h300.example.com'))
    await pass(61_000)
    await fail(...hosts(1, 200))
    assert.ok((await ofHosts()).some(({ host }) => host === 'h200.example.com'))
    assert.ok((await ofHosts()).some(({ host }) => host === 'big.example.com'))
    await assertClean(world)
  })

  test('does not take the place of other queues when a team has all it may have', async () => {
    world = await openWorld(redis, { connection, shards: 16 })
    const keys = shardKeys(world.engine, 0)
    const queues = Array.from({ length: 2_000 }, (_, i) => `q${i}`)
    const here = queues.filter((queue) => shardOfQueue(world.engine, 'default', queue).shard === 0)
    source = await openExecutor(world, 'one')
    const greedy = here.slice(0, 3)
    for (const queue of greedy) await fail(...hosts(ISSUES_PER_QUEUE_MAX).map((one) => ({ ...one, queue })))
    // Room for a queue without an issue is made once a minute.
    await pass(61_000)
    await fail({ queue: here[3] as string, host: 'new.example.com' })
    const issues = await issuesOf(world)
    const count = await redis.client.hlen(keys.issues('default'))
    assert.ok(count <= ISSUES_PER_SHARD_MIN + 6, `${count} fields`)
    assert.ok(issues.some(({ resource, host }) => resource.name === here[3] && host === 'new.example.com'))
    await assertClean(world)
  })
})

describe('an issue', () => {
  test('is resolved when it has been quiet for an hour and its host has succeeded since', async () => {
    await fail({})
    await pass(ISSUE_QUIET_MS - 1_000)
    await fail({ failed: false })
    await redis.client.zadd(shardKeys(world.engine, 0).issuesDue, 0, 'default')
    await sweep()
    assert.equal((await theOne()).state, 'open')
    await pass(61_000)
    await sweep()
    assert.equal((await theOne()).state, 'resolved')
  })

  test('stays open without a success at its host, and looks again', async () => {
    await fail({})
    await pass(ISSUE_QUIET_MS + 1_000)
    await fail({ failed: false, host: 'b.example.com' })
    await sweep()
    assert.equal((await theOne()).state, 'open')
    await fail({ failed: false })
    await pass(300_000)
    await sweep()
    assert.equal((await theOne()).state, 'resolved')
  })

  test('is not resolved by a success before its last failure', async () => {
    await fail({ failed: false })
    await pass(1_000)
    await fail({})
    await pass(ISSUE_QUIET_MS + 1_000)
    await sweep()
    assert.equal((await theOne()).state, 'open')
  })

  test('that is acknowledged stays so while it fails, and opens again after it was resolved', async () => {
    await fail({})
    assert.equal((await change('acknowledge'))?.state, 'acknowledged')
    await fail({})
    const acknowledged = await theOne()
    assert.equal(acknowledged.state, 'acknowledged')
    await pass(1_000)
    await fail({ failed: false })
    await pass(ISSUE_QUIET_MS)
    await sweep()
    assert.equal((await theOne()).state, 'resolved')
    await fail({})
    const again = await theOne()
    assert.equal(again.state, 'open')
    assert.ok(again.openedAtMs > acknowledged.openedAtMs)
    assert.equal(again.firstAtMs, acknowledged.firstAtMs)
  })

  test('that is muted stays so until its time, through failures and successes', async () => {
    await fail({})
    const until = world.engine.runner.redisNowMs(0) + 2 * HOUR_MS
    assert.deepEqual([(await change('mute', until))?.state, (await theOne()).mutedUntilMs], ['muted', until])
    await fail({}, { failed: false })
    await pass(HOUR_MS + 1_000)
    await sweep()
    assert.equal((await theOne()).state, 'muted')
    await pass(HOUR_MS)
    assert.deepEqual([(await theOne()).state, (await theOne()).mutedUntilMs], ['open', null])
  })

  test('is changed by hand, once, with an entry of the audit log', async () => {
    await fail({})
    for (const name of ['acknowledge', 'acknowledge', 'resolve', 'reopen'] as const) await change(name)
    assert.equal((await theOne()).state, 'open')
    const filter = {
      actor: null,
      action: null,
      resourceKind: null,
      resource: null,
      afterMs: null,
      beforeMs: null,
    }
    const page = await createAuditLog(world.engine).list({ team: 'default', filter, limit: 10, cursor: null })
    assert.ok(page !== 'bad_cursor')
    assert.deepEqual(
      page.records.map(({ action, resource }) => [action, resource.kind, resource.name]).toReversed(),
      ['acknowledge', 'resolve', 'reopen'].map((action) => [action, 'issue', 'emails']),
    )
  })

  test('of another team or of no group is not found', async () => {
    await fail({})
    const { id } = await theOne()
    const store = createIssueStore(world.engine)
    assert.equal(await store.get('other', id), null)
    assert.equal(await store.get('default', `${id}0`), null)
    assert.equal(await store.get('default', '#1'), null)
    const request = { issueId: id, change: 'acknowledge', mutedUntilMs: null, actor: AN_ACTOR } as const
    assert.equal(await store.change({ ...request, team: 'other' }), null)
  })
})

describe('a list of issues', () => {
  test('is by the last failure, in pages, and knows its cursors and filters', async () => {
    world = await openWorld(redis, { connection, shards: 3 })
    const sources = [0, 1, 2].map((shard) => openExecutor(world, 'one', shard))
    for (let i = 0; i < 9; i += 1) {
      const queue = `q${i}`
      const { shard } = shardOfQueue(world.engine, 'default', queue)
      await endJobs(world, await (sources[shard] as Promise<JobSource>), [{ queue }])
      world.clock.advance(100)
    }
    const store = createIssueStore(world.engine)
    const names: string[] = []
    let cursor: string | null = null
    do {
      const filter = { states: ['open'] as const, queue: null } as const
      const page: Awaited<ReturnType<typeof store.list>> = await store.list({
        team: 'default',
        filter,
        limit: 4,
        cursor,
      })
      assert.ok(page !== 'bad_cursor')
      names.push(...page.issues.map(({ resource }) => resource.name))
      cursor = page.nextCursor
      if (cursor !== null)
        assert.equal(
          await store.list({ team: 'default', filter: { states: null, queue: null }, limit: 4, cursor }),
          'bad_cursor',
        )
    } while (cursor !== null)
    assert.deepEqual(names, ['q8', 'q7', 'q6', 'q5', 'q4', 'q3', 'q2', 'q1', 'q0'])
    const wanted = async (filter: Parameters<typeof store.list>[0]['filter']) => {
      const page = await store.list({ team: 'default', filter, limit: 10, cursor: null })
      return page === 'bad_cursor' ? [] : page.issues.map(({ resource }) => resource.name)
    }
    assert.deepEqual(await wanted({ states: ['resolved'], queue: null }), [])
    assert.deepEqual(await wanted({ states: ['resolved', 'open'], queue: 'q3' }), ['q3'])
    assert.deepEqual(await wanted({ states: null, queue: 'q3' }), ['q3'])
  })
})
