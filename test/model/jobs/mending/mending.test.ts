import assert from 'node:assert/strict'
import { afterAll, beforeEach, describe, vi } from 'vitest'
import { ID_BLOCK } from '../../../../src/domain/limits.ts'
import { subscribeToWakeHints } from '../../../../src/redis/base/client/wake-hints.ts'
import { NO_QUOTAS, quotasOf, type TeamQuotas } from '../../../../src/domain/quotas.ts'
import type { JobIntake, JobStore } from '../../../../src/ports/jobs.ts'
import type { RedisConnection } from '../../../../src/redis/base/client/connection.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import { INDEX } from '../../../../src/redis/base/layout/fields.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { QuotaKeeper } from '../../../../src/redis/ledger/quotas/quota-keeper.ts'
import { systemClock } from '../../../../src/telemetry/system-clock.ts'
import {
  assertClean,
  callRecord,
  claimed,
  ended,
  openExecutor,
  pushAll,
  pushOne,
} from '../../../support/engine/model-executor.ts'
import { openConnection, openWorld, type World } from '../../../support/engine/model-world.ts'
import { AN_ACTOR } from '../../../support/principals.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { makeFailed } from './mending-scenes.ts'

let redis: TestRedis
let connection: RedisConnection
let world: World
let intake: JobIntake
let store: JobStore

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

const failed = (count: number) => makeFailed({ world, intake, accepted: [] }, count)

/** Entries of the audit log; nothing may be counted into one of them. */
async function auditLength(): Promise<number> {
  const keys = shardKeys(world.engine, 0)
  assert.equal(await redis.client.exists(keys.deedCounts('default')), 0)
  return redis.client.xlen(keys.deedLog('default'))
}

/** Claims everything that is ready, and ends it well; answers the ids. */
async function runReady(name = 'runner'): Promise<number[]> {
  const source = await openExecutor(world, name)
  const ids: number[] = []
  for (;;) {
    const works = await claimed(source, 64)
    if (works.length === 0) return ids
    ids.push(...works.map(({ jobId }) => jobId))
    await source.finish(works.map((work) => ended(world, work)))
  }
}

async function promoteAll(): Promise<void> {
  const upkeep = createShardMaintenance(world.engine, 0)
  for (let i = 0; i < 5; i += 1) await upkeep.promote()
}

describe.each([
  ['near set', 30],
  ['minute bucket', 500],
])('a job in the %s', (_, delaySeconds) => {
  test('that is fired runs now, and once', async () => {
    const [fired, other] = await pushAll(intake, 2, { start: { delaySeconds } })
    const end = await store.fire('default', fired as number, AN_ACTOR)
    assert.equal(end.status, 'fired')
    await assertClean(world)
    assert.deepEqual(await runReady(), [fired])
    await assertClean(world)
    // What still names it where it waited finds it ended, or would make it run again.
    world.clock.advance(delaySeconds * 1_000 + 61_000)
    await promoteAll()
    assert.deepEqual(await runReady('later'), [other])
    await assertClean(world)
  })

  test('that is fired was created when it was pushed', async () => {
    const id = await pushOne(intake, { start: { delaySeconds } })
    const createdAtMs = (await store.get('default', id))?.open?.createdAtMs
    world.clock.advance(5_000)
    await store.fire('default', id, AN_ACTOR)
    const open = (await store.get('default', id))?.open
    assert.deepEqual([open?.createdAtMs, open?.scheduledAtMs], [createdAtMs, world.clock.wallMs])
  })

  test('that is fired and in flight when its minute comes is not ready a second time', async () => {
    const id = await pushOne(intake, { start: { delaySeconds } })
    await store.fire('default', id, AN_ACTOR)
    const source = await openExecutor(world, 'holder')
    assert.equal((await claimed(source, 1)).length, 1)
    world.clock.advance(delaySeconds * 1_000 + 61_000)
    await openExecutor(world, 'holder')
    await promoteAll()
    assert.deepEqual(await runReady('later'), [])
  })

  test('that is fired and deleted is gone', async () => {
    const id = await pushOne(intake, { start: { delaySeconds } })
    await store.fire('default', id, AN_ACTOR)
    assert.equal((await store.remove('default', id, AN_ACTOR, false)).status, 'removed')
    await assertClean(world)
    assert.deepEqual(await runReady(), [])
    await assertClean(world)
  })

  test('that two clients fire at once, one of them by a step that is sent twice, is fired once', async () => {
    const id = await pushOne(intake, { start: { delaySeconds } })
    world.faults.resent.add('open_page')
    const ends = await Promise.all([1, 2].map(() => store.fire('default', id, AN_ACTOR)))
    assert.deepEqual(
      ends.map(({ status }) => status),
      ['fired', 'fired'],
    )
    assert.equal(await auditLength(), 1)
    assert.deepEqual(await runReady(), [id])
    await assertClean(world)
  })
})

describe('fire', () => {
  test('says why it does not', async () => {
    const ready = await pushOne(intake)
    world.clock.advance(500)
    assert.equal((await store.fire('default', ready, AN_ACTOR)).status, 'fired', 'as it is due just now')
    world.clock.advance(5_000)
    assert.equal((await store.fire('default', ready, AN_ACTOR)).status, 'due')
    const source = await openExecutor(world, 'holder')
    const [work] = await claimed(source, 1)
    assert.equal((await store.fire('default', ready, AN_ACTOR)).status, 'in_flight')
    assert.ok(work !== undefined)
    await source.finish([ended(world, work, { failed: true })])
    const retry = ready + 1
    assert.deepEqual(await store.fire('default', ready, AN_ACTOR), { status: 'not_ended', jobId: retry })
    assert.deepEqual(await store.remove('default', ready, AN_ACTOR, true), {
      status: 'not_ended',
      jobId: retry,
    })
    assert.deepEqual(await store.retry('default', ready, AN_ACTOR), { status: 'not_ended', jobId: retry })
    assert.equal((await store.fire('default', retry, AN_ACTOR)).status, 'fired')
    assert.deepEqual(await runReady(), [retry])
    assert.equal((await store.fire('default', retry, AN_ACTOR)).status, 'ended')
    assert.equal((await store.fire('default', retry + 1, AN_ACTOR)).status, 'not_found')
    assert.equal((await store.fire('other', retry, AN_ACTOR)).status, 'not_found')
    await assertClean(world)
  })

  test('wakes a queue whose executors sleep, and leaves a paused one alone', async () => {
    const id = await pushOne(intake, { start: { delaySeconds: 30 } })
    const { ring } = shardKeys(world.engine, 0)
    assert.equal(await redis.client.zcard(ring), 0)
    await store.fire('default', id, AN_ACTOR)
    assert.equal(await redis.client.zcard(ring), 1)
  })

  test('and a retry tell sleeping executors', async () => {
    const [id] = await failed(1)
    const delayed = await pushOne(intake, { start: { delaySeconds: 30 } })
    const listener = await openConnection(redis.url)
    const woken: number[] = []
    const hints = await subscribeToWakeHints(listener)
    hints.onWake((shard) => woken.push(shard))
    await store.fire('default', delayed, AN_ACTOR)
    await vi.waitFor(() => assert.deepEqual(woken, [0]))
    assert.deepEqual(await runReady(), [delayed])
    await store.retry('default', id as number, AN_ACTOR)
    await vi.waitFor(() => assert.deepEqual(woken, [0, 0]))
    listener.disconnect()
  })
})

describe.each(['replay', 'retry'] as const)('the new job of a %s', (action) => {
  test('of a dead letter is of the call depth of who asks for it', async () => {
    const [id = 0] = await pushAll(intake, 1, { request: { retryDelays: [] } })
    const source = await openExecutor(world, 'failing')
    await source.finish((await claimed(source, 1)).map((work) => ended(world, work, { failed: true })))
    const answer =
      action === 'retry'
        ? await store.retry('default', id, AN_ACTOR, 3)
        : await store.replay('default', id, AN_ACTOR, { callDepth: 3 })
    assert.ok(answer.status === 'made')
    assert.equal((await store.get('default', answer.jobId))?.request.callDepth, 3)
  })
})

describe('replay', () => {
  test('of a letter with a large payload leaves that to the new job alone, also in the usage of its team', async () => {
    const payload = JSON.stringify('x'.repeat(9_000))
    const [id = 0] = await pushAll(intake, 1, { request: { retryDelays: [], payload } })
    const source = await openExecutor(world, 'failing')
    await source.finish((await claimed(source, 1)).map((work) => ended(world, work, { failed: true })))
    await assertClean(world)
    const answer = await store.replay('default', id, AN_ACTOR, { callDepth: 3 })
    assert.ok(answer.status === 'made')
    assert.equal((await store.get('default', answer.jobId))?.request.payload, payload)
    await assertClean(world)
  })

  test('that is sent twice makes one job, which the audit log says once', async () => {
    const [id = 0] = await pushAll(intake, 1, { request: { retryDelays: [] } })
    const source = await openExecutor(world, 'failing')
    await source.finish((await claimed(source, 1)).map((work) => ended(world, work, { failed: true })))
    world.faults.resent.add('remake_page')
    const answer = await store.replay('default', id, AN_ACTOR)
    assert.ok(answer.status === 'made')
    assert.equal(
      answer.scheduledAtMs,
      Number((await store.get('default', answer.jobId))?.open?.scheduledAtMs),
    )
    assert.equal(await auditLength(), 1)
    await assertClean(world)
    assert.deepEqual(await runReady(), [answer.jobId])
  })
})

describe('retry', () => {
  test('takes a new block of ids when its block belongs to another process', async () => {
    const [id] = await failed(1)
    const { jobBlock, jobIndex } = shardKeys(world.engine, 0)
    const next = Number(await redis.client.get(jobBlock)) + 1
    await redis.client.hset(jobIndex(next), 'o', 'another')
    const made = await store.retry('default', id as number, AN_ACTOR)
    assert.ok(made.status === 'made')
    const block = Math.floor(world.engine.jobIds.seqOf(made.jobId) / ID_BLOCK)
    assert.equal(block, next + 4, 'the blocks reserved with it are not used either')
    await redis.client.del(jobIndex(next))
    await assertClean(world)
  })

  test('raises the counter to a block that Redis no longer knows as reserved', async () => {
    const [first, second] = await failed(2)
    const { jobBlock, jobIndex } = shardKeys(world.engine, 0)
    const made = await store.retry('default', first as number, AN_ACTOR)
    assert.ok(made.status === 'made')
    const block = Math.floor(world.engine.jobIds.seqOf(made.jobId) / ID_BLOCK)
    await redis.client.hdel(jobIndex(block), INDEX.owner)
    await redis.client.del(jobBlock)
    assert.equal((await store.retry('default', second as number, AN_ACTOR)).status, 'made')
    assert.equal(await redis.client.get(jobBlock), String(block))
    await assertClean(world)
  })

  test('makes one job of a failed chain, whoever else asks', async () => {
    const [id] = await failed(1)
    world.faults.resent.add('remake_page')
    const ends = await Promise.all([1, 2, 3].map(() => store.retry('default', id as number, AN_ACTOR)))
    const made = ends.filter((end) => end.status === 'made')
    assert.equal(made.length, 1)
    const jobId = made[0]?.jobId ?? 0
    assert.deepEqual(
      ends.filter((end) => end.status !== 'made'),
      Array(2).fill({ status: 'already_made', jobId }),
    )
    assert.equal(await auditLength(), 1)
    assert.equal((await store.get('default', id as number))?.replayedAs, jobId)
    const chain = await store.get('default', jobId)
    assert.deepEqual([chain?.open?.attempt, chain?.request.retriesEnabled], [1, false])
    await assertClean(world)
    assert.deepEqual(await runReady(), [jobId])
    await assertClean(world)
    assert.deepEqual(await store.retry('default', jobId, AN_ACTOR), { status: 'not_failed' })
  })

  test('keeps the payload while a call record holds it, and says when nothing does', async () => {
    const request = { retriesEnabled: false, payload: '{"a":1}' }
    const [kept, lost] = await pushAll(intake, 2, { request })
    const source = await openExecutor(world, 'e')
    const works = await claimed(source, 2)
    await source.finish(
      works.map((work) => {
        assert.ok(work.kind === 'job')
        const record = callRecord(work, world.clock.wallMs, 0)
        const call = { ...record, request: { ...record.request, body: '{"a":1}' } }
        return ended(world, work, { failed: true, ...(work.jobId === kept ? { call } : {}) })
      }),
    )
    const made = await store.retry('default', kept as number, AN_ACTOR)
    assert.ok(made.status === 'made')
    assert.equal((await store.get('default', made.jobId))?.request.payload, '{"a":1}')
    assert.deepEqual(await store.retry('default', lost as number, AN_ACTOR), {
      status: 'not_kept',
      fields: ['payload'],
    })
    await assertClean(world)
  })

  test('and replay keep to the quotas, whose last place only one of them gets', async () => {
    const ids = await failed(4)
    const held = new Map<string, TeamQuotas>([['default', quotasOf({ pendingJobs: 1 })]])
    const quotas = new QuotaKeeper({
      engine: world.engine,
      clock: systemClock,
      quotasOf: (team) => held.get(team) ?? NO_QUOTAS,
    })
    const bounded = createJobStore(world.engine, quotas)
    const ends = await Promise.all(ids.map((id) => bounded.retry('default', id, AN_ACTOR)))
    assert.equal(ends.filter(({ status }) => status === 'made').length, 1)
    assert.deepEqual(
      ends.filter(({ status }) => status !== 'made'),
      Array(3).fill({ status: 'over_quota', quota: 'pendingJobs' }),
    )
    assert.equal(await auditLength(), 1)
    await assertClean(world)
  })
})

describe('delete', () => {
  test('removes a finished chain with its calls, once, and nothing of the others', async () => {
    const [gone, kept] = await failed(2)
    world.faults.resent.add('delete_page')
    const ids = [gone as number, kept as number]
    await store
      .remove('default', ids[0] as number, AN_ACTOR, false)
      .then(({ status }) => assert.equal(status, 'ended'))
    assert.equal(await auditLength(), 0)
    await store.remove('default', ids[0] as number, AN_ACTOR, true)
    assert.equal(await store.get('default', ids[0] as number), null)
    assert.equal((await store.get('default', ids[1] as number))?.end, 'failed_no_retries')
    assert.equal((await store.remove('default', ids[0] as number, AN_ACTOR, true)).status, 'not_found')
    assert.equal(await auditLength(), 1)
    await assertClean(world)
  })
})
