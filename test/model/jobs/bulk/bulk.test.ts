import { afterAll, beforeEach, describe, expect, vi } from 'vitest'
import type { RedisConnection } from '../../../../src/redis/base/client/connection.ts'
import type { Bulk } from '../../../../src/domain/bulk/bulk.ts'
import { ANY_JOB } from '../../../../src/domain/jobs/job-filter.ts'
import type { BulkPreview } from '../../../../src/ports/bulk/bulk.ts'
import { createAuditLog } from '../../../../src/redis/ledger/audit-log/audit-log.ts'
import { shardOfQueue } from '../../../../src/redis/base/engine/engine.ts'
import { inspect } from '../../../../src/redis/upkeep/inspection/inspect.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { purgeDeadLetters } from '../../../../src/redis/ledger/retention/dead-letters.ts'
import { createBulkStore } from '../../../../src/redis/jobs/bulk/bulk-store.ts'
import { CostGate } from '../../../../src/domain/shares/cost-gate.ts'
import { systemClock } from '../../../../src/telemetry/system-clock.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import { assertClean } from '../../../support/engine/model-executor.ts'
import { openConnection, openWorld } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { AN_ACTOR } from '../../../support/principals.ts'
import { BulkStage, TEAM } from './bulk-stage.ts'

const AUDIT_QUERY = {
  team: TEAM,
  limit: 100,
  cursor: null,
  filter: {
    actor: null,
    action: null,
    resource: null,
    afterMs: null,
    beforeMs: null,
    resourceKind: 'bulk',
  },
} as const

describe('a bulk', () => {
  let redis: TestRedis
  let connection: RedisConnection
  let stage: BulkStage

  test.beforeAll(async ({ emptyRedis }) => {
    redis = emptyRedis
    connection = await openConnection(redis.url)
  })
  afterAll(() => connection.disconnect())
  beforeEach(async () => {
    stage = new BulkStage(await openWorld(redis, { connection }))
    return () => stage.world.close()
  })

  const read = async (id: number) => (await stage.store.get(TEAM, id)) ?? expect.fail('the bulk is gone')
  const counts = async (id: number) => {
    const { state, matched, done, skipped, failed } = await read(id)
    return { state, matched, done, skipped, failed }
  }

  test('cancels the jobs that its ids name, in all shards and queues', async () => {
    const mails = await stage.push(30)
    const others = (await Promise.all(['a', 'b', 'c', 'd'].map((queue) => stage.push(5, { queue })))).flat()
    const kept = await stage.push(3)
    const bulk = await stage.create('cancel', [...mails, ...others])
    expect(bulk).toMatchObject({ state: 'starting', matched: 50, done: 0, createdBy: AN_ACTOR })
    await stage.drive()
    expect(await counts(bulk.id)).toEqual({ state: 'done', matched: 50, done: 50, skipped: 0, failed: 0 })
    await assertClean(stage.world)
    expect(await stage.failAll()).toBe(kept.length)
  })

  test('halves a page that fails, until the job that it fails over is alone and counts as failed', async () => {
    const jobs = await stage.push(40)
    const bad = String(jobs[17])
    const { runner } = stage.world.engine
    const run = runner.run.bind(runner)
    let failures = 0
    const failing = vi.spyOn(runner, 'run').mockImplementation((call, ...rest) => {
      if (call.name !== 'open_page' || !call.args.some((arg) => String(arg) === bad))
        return run(call, ...rest)
      failures += 1
      return Promise.reject(new Error('ERR odd'))
    })
    const bulk = await stage.create('cancel', jobs)
    await stage.drive()
    failing.mockRestore()
    expect(await counts(bulk.id)).toEqual({ state: 'done', matched: 40, done: 39, skipped: 0, failed: 1 })
    expect(failures).toBeLessThan(24)
    await assertClean(stage.world)
  })

  test('says of each named job why nothing could be done', async () => {
    const [pending, other] = await stage.push(2)
    const [dead] = await stage.deadLetters(1, { queue: 'dead' })
    await stage.failAll()
    const unknown = stage.world.engine.jobIds.idOf(1, 100_000, 1)
    const ids = [pending, dead, unknown, other] as number[]
    const bulk = await stage.create('cancel', ids)
    await stage.drive()
    expect(await counts(bulk.id)).toMatchObject({ done: 0, failed: 4 })
    expect(
      new Set((await stage.store.failures(TEAM, bulk.id)).map(({ jobId, reason }) => `${jobId} ${reason}`)),
    ).toEqual(new Set([pending, dead, other].map((id) => `${id} not_pending`).concat(`${unknown} not_found`)))
    await assertClean(stage.world)
  })

  test('replays dead letters by a filter, and not what fails again meanwhile', async () => {
    const dead = await stage.deadLetters(230)
    stage.world.clock.advance(1)
    const bulk = await stage.create('replay', { queue: 'emails', status: 'dead_lettered' })
    const shards = stage.openShards()
    await stage.begin(shards)
    // What a page makes fails at once, and is a dead letter again before the next page.
    while (await stage.round(shards)) await stage.failAll()
    expect(await counts(bulk.id)).toEqual({ state: 'done', matched: 230, done: 230, skipped: 0, failed: 0 })
    await assertClean(stage.world)
    for (const id of dead) expect(await chainEnd(id)).toBe('replayed')
  })

  const chainEnd = async (id: number) => {
    const chain = await createJobStore(stage.world.engine).get(TEAM, id)
    return chain?.replayedAs === null ? 'not replayed' : chain === null ? null : 'replayed'
  }

  test('purges dead letters of every queue, and is done when there are none', async () => {
    await stage.deadLetters(120)
    await stage.deadLetters(7, { queue: 'other' })
    stage.world.clock.advance(1)
    const bulk = await stage.create('purge', { status: 'dead_lettered' })
    await stage.drive()
    expect(await counts(bulk.id)).toEqual({ state: 'done', matched: 127, done: 127, skipped: 0, failed: 0 })
    const none = await stage.create('purge', { status: 'dead_lettered' })
    await stage.drive()
    expect(await counts(none.id)).toEqual({ state: 'done', matched: 0, done: 0, skipped: 0, failed: 0 })
    await assertClean(stage.world)
  })

  test('fires delayed jobs', async () => {
    const near = await stage.push(3, { start: { delaySeconds: 30 } })
    const far = await stage.push(3, { start: { delaySeconds: 5_000 } })
    const ready = await stage.push(1)
    const bulk = await stage.create('fire', [...near, ...far, ...ready])
    await stage.drive()
    expect(await counts(bulk.id)).toMatchObject({ done: 6, failed: 1 })
    expect(await stage.failAll()).toBe(7)
    await assertClean(stage.world)
  })

  test('is made once by a request that is sent again after its executors have begun', async () => {
    const [id] = await stage.deadLetters(1)
    const bulk = await stage.create('purge', [id as number])
    const call = stage.world.sent.get('create_bulk') ?? expect.fail()
    expect(await stage.world.engine.runner.run(call)).toBe('made')
    await stage.drive()
    expect(await stage.world.engine.runner.run(call)).toBe('made')
    const { bulks } = (await stage.store.list({ team: TEAM, limit: 10, cursor: null })) as {
      bulks: unknown[]
    }
    expect(bulks).toHaveLength(1)
    expect(await counts(bulk.id)).toMatchObject({ state: 'done', done: 1 })
  })

  test('copies payloads of a mebibyte one by one', async () => {
    const payload = JSON.stringify('x'.repeat(900_000))
    await stage.deadLetters(5, { request: { payload } })
    await stage.deadLetters(5)
    stage.world.clock.advance(1)
    const bulk = await stage.create('replay', { status: 'dead_lettered' })
    let pages = 0
    stage.world.faults.after = ({ name }) => void (pages += name === 'remake_page' ? 1 : 0)
    await stage.drive()
    expect(await counts(bulk.id)).toMatchObject({ done: 10, skipped: 0, failed: 0 })
    expect(pages).toBeGreaterThanOrEqual(5)
    await assertClean(stage.world)
  })

  test('goes on behind its last page when the executor dies that had the turn', async () => {
    await stage.deadLetters(250)
    stage.world.clock.advance(1)
    const bulk = await stage.create('purge', { queue: 'emails', status: 'dead_lettered' })
    const dying = stage.openShards()
    await stage.begin(dying)
    await stage.round(dying)
    expect(await counts(bulk.id)).toMatchObject({ state: 'running', done: 100 })
    const others = stage.openShards()
    expect(await stage.round(others)).toBe(false)
    stage.world.clock.advance(6_000)
    await stage.drive(others)
    expect(await counts(bulk.id)).toEqual({ state: 'done', matched: 250, done: 250, skipped: 0, failed: 0 })
    await assertClean(stage.world)
  })

  test('ends between two pages when it is aborted, and its entry says who did', async () => {
    await stage.deadLetters(250)
    stage.world.clock.advance(1)
    const bulk = await stage.create('replay', { queue: 'emails', status: 'dead_lettered' })
    const shards = stage.openShards()
    await stage.begin(shards)
    await stage.round(shards)
    const other = { ...AN_ACTOR, name: 'other' }
    expect(await stage.store.abort(TEAM, bulk.id, other)).toMatchObject({ state: 'aborted', done: 100 })
    expect(await stage.store.abort(TEAM, bulk.id, other)).toBe('ended')
    await stage.drive(shards)
    expect(await counts(bulk.id)).toMatchObject({ state: 'aborted', done: 100 })
    const audit = await createAuditLog(stage.world.engine).list(AUDIT_QUERY)
    if (audit === 'bad_cursor') expect.fail()
    const { records } = audit
    expect(records.map(({ actor, action, resource }) => [actor.name, action, resource.id])).toEqual([
      ['other', 'abort', bulk.id],
      ['test', 'create', bulk.id],
    ])
    await assertClean(stage.world)
  })

  test('skips what changed after it was found, and a queue that was deleted', async () => {
    const dead = await stage.deadLetters(30)
    await stage.deadLetters(30, { queue: 'gone' })
    stage.world.clock.advance(1)
    const bulk = await stage.create('replay', { status: 'dead_lettered' })
    const queues = createQueueStore(stage.world.engine)
    let isFirst = true
    stage.world.faults.before = async ({ name }) => {
      if (name !== 'remake_page' || !isFirst) return
      isFirst = false
      const roots = dead.slice(0, 10).map(String)
      const keys = shardOfQueue(stage.world.engine, TEAM, 'emails')
      const localId = (await connection.hget(keys.queueIds, `${TEAM}/emails`)) ?? ''
      await purgeDeadLetters(stage.world.engine, keys, { localId, roots, onlyDue: false })
      await queues.remove(TEAM, 'gone')
    }
    await stage.drive()
    const end = await counts(bulk.id)
    expect(end.state).toBe('done')
    expect(end.failed).toBe(0)
    // The page of the deleted queue was found before or after it went.
    expect([20, 50]).toContain(end.done)
    expect(await stage.store.failures(TEAM, bulk.id)).toEqual([])
    for (let i = 0; i < 4; i += 1)
      for (const { shard } of stage.world.engine.shards)
        await createShardMaintenance(stage.world.engine, shard).sweep()
    await assertClean(stage.world)
  })

  test('names a damaged dead letter as a failure, and goes on', async () => {
    const dead = await stage.deadLetters(5)
    stage.world.clock.advance(1)
    const keys = shardOfQueue(stage.world.engine, TEAM, 'emails')
    const localId = (await connection.hget(keys.queueIds, `${TEAM}/emails`)) ?? ''
    await connection.hset(keys.queue(localId).deadLetterRecords, String(dead[2]), 'damaged')
    const bulk = await stage.create('replay', dead)
    await stage.drive()
    expect(await counts(bulk.id)).toMatchObject({ state: 'done', done: 4, failed: 1 })
    expect(await stage.store.failures(TEAM, bulk.id)).toEqual([{ jobId: dead[2], reason: 'damaged' }])
  })

  test('keeps its rate, with a ramp', async () => {
    await stage.deadLetters(150)
    stage.world.clock.advance(1)
    const bulk = await stage.create(
      'purge',
      { queue: 'emails', status: 'dead_lettered' },
      { ratePerSecond: 10 },
    )
    const shards = stage.openShards()
    const doneAfter: number[] = []
    for (let ms = 0; ms <= 50_000; ms += 250) {
      while (await stage.round(shards));
      if (ms % 10_000 === 0) doneAfter.push((await read(bulk.id)).done)
      stage.world.clock.advance(250)
    }
    // 1, 2, 4 and 8 a second for ten seconds each; a page comes a little late.
    const ideal = [1, 11, 31, 71, 150, 150]
    for (const [i, done] of doneAfter.entries()) {
      expect(done).toBeLessThanOrEqual((ideal[i] ?? 0) + 8)
      expect(done).toBeGreaterThanOrEqual((ideal[i] ?? 0) * 0.75 - 1)
    }
  })

  test('keeps its rate where nothing can be done to its jobs as well', async () => {
    const ids = await stage.push(20)
    const bulk = await stage.create('purge', ids, { ratePerSecond: 1 })
    const shards = stage.openShards()
    await stage.begin(shards)
    while (await stage.round(shards));
    expect((await read(bulk.id)).failed).toBeLessThan(20)
    for (let seconds = 0; seconds < 60; seconds += 1) {
      stage.world.clock.advance(1_000)
      while (await stage.round(shards));
    }
    expect(await counts(bulk.id)).toMatchObject({ state: 'done', done: 0, failed: 20 })
  })

  test('is one of ten that run, and of a hundred that are remembered', async () => {
    const [id] = await stage.push(1)
    for (let i = 0; i < 10; i += 1) await stage.create('purge', [id as number])
    const order = {
      action: 'purge',
      target: { kind: 'ids', ids: [id as number] },
      ratePerSecond: null,
    } as const
    expect(await stage.store.create(TEAM, order, AN_ACTOR)).toBe('too_many')
    expect(await stage.store.create('other', order, AN_ACTOR)).toMatchObject({ state: 'starting' })
    await stage.drive()
    for (let i = 0; i < 95; i += 1) {
      stage.world.clock.advance(1_000)
      await stage.create('purge', [id as number])
      await stage.drive()
    }
    const list = async (limit: number, cursor: string | null) =>
      (await stage.store.list({ team: TEAM, limit, cursor })) as { bulks: Bulk[]; nextCursor: string | null }
    const first = await list(60, null)
    const second = await list(60, first.nextCursor)
    const ids = [...first.bulks, ...second.bulks].map((bulk) => bulk.id)
    expect(ids).toHaveLength(100)
    expect(ids).toEqual(ids.toSorted((a, b) => b - a))
    expect(second.nextCursor).toBeNull()
    stage.world.clock.advance(31 * 86_400_000)
    expect((await list(10, null)).bulks).toEqual([])
    await assertClean(stage.world)
  })

  test('previews what it would find, and changes nothing', async () => {
    const dead = await stage.deadLetters(12)
    await stage.deadLetters(3, { queue: 'other' })
    stage.world.clock.advance(1)
    const look = (queue: string | null) =>
      stage.store.preview(TEAM, {
        action: 'purge',
        target: { kind: 'filter', filter: { ...ANY_JOB, queue, status: 'dead_lettered' } },
        ratePerSecond: null,
      })
    expect(await look('emails')).toMatchObject({ matched: 12, isAtLeast: false })
    const all = (await look(null)) as BulkPreview
    expect([all.matched, all.sample.length]).toEqual([15, 10])
    for (const id of dead) expect(await chainEnd(id)).toBe('not replayed')
  })

  test('reads 32 MiB at most for a preview, in the turns of the lists', { timeout: 60_000 }, async () => {
    const payload = JSON.stringify({ filling: 'x'.repeat(1024 * 1024 - 100) })
    await stage.push(48, { start: { delaySeconds: 3_600 }, request: { payload } })
    stage.world.clock.advance(1)
    let steps = 0
    const gate = new CostGate({
      ...systemClock,
      // After each step at the gate.
      nextTurn: (run) => {
        steps += 1
        systemClock.nextTurn(run)
      },
    })
    const { runner } = stage.world.engine
    let bytes = 0
    const read: typeof runner.read = async (ask) => {
      const answer = await runner.read(ask)
      bytes += JSON.stringify(answer)?.length ?? 0
      return answer
    }
    const store = createBulkStore({ ...stage.world.engine, runner: { ...runner, read } }, () => 0, gate)
    const filter = { ...ANY_JOB, text: 'nowhere' }
    const order = { action: 'cancel', target: { kind: 'filter', filter }, ratePerSecond: null } as const
    expect(await store.preview(TEAM, order)).toMatchObject({ matched: 0, isAtLeast: true })
    expect(bytes).toBeGreaterThan(24 * 1024 * 1024)
    expect(bytes).toBeLessThan(42 * 1024 * 1024)
    expect(steps).toBeGreaterThanOrEqual(4)
    while (gate.enter(TEAM) !== null) continue
    expect(await store.preview(TEAM, order)).toBe('too_many_searches')
  })

  test('has the first ids that it was given in the audit log, and their count', async () => {
    const ids = await stage.push(60)
    await stage.create('cancel', ids)
    const audit = await createAuditLog(stage.world.engine).list(AUDIT_QUERY)
    if (audit === 'bad_cursor') expect.fail()
    expect(audit.records[0]?.after).toMatchObject({ ids: ids.slice(0, 50), ids_count: 60 })
  })

  test('has no text that it looks for in the audit log', async () => {
    await stage.create('cancel', { queue: 'emails', text: 'canary' })
    const audit = await createAuditLog(stage.world.engine).list(AUDIT_QUERY)
    if (audit === 'bad_cursor') expect.fail()
    expect(audit.records[0]?.after).toMatchObject({ filter: { queue: 'emails', text: '(hidden)' } })
    expect(JSON.stringify(audit)).not.toContain('canary')
  })

  test('is inspected: what is lost, doubled or miscounted is found', async () => {
    await stage.deadLetters(3)
    stage.world.clock.advance(1)
    const bulk = await stage.create('purge', { queue: 'emails', status: 'dead_lettered' })
    await stage.begin()
    const member = `${TEAM}/${bulk.id}`
    const keys = shardOfQueue(stage.world.engine, TEAM, 'emails')
    const messages = async () => (await inspect(stage.world.engine)).map(({ message }) => message)
    await redis.client.zrem(keys.bulksDue, member)
    expect(await messages()).toEqual([`lacks ${member}, which is not worked off`])
    await redis.client.zadd(keys.bulksDue, 0, member)
    await stage.drive()
    await redis.client.zadd(keys.bulksDue, 0, member)
    await redis.client.hincrby(keys.bulkPart(member), 'd', 1)
    expect(await messages()).toEqual([
      `names ${member}, which nothing is to be done for`,
      expect.stringContaining('its parts {"done":4,'),
    ])
    await stage.drive()
    await redis.client.hset(keys.bulkPart(member), 's', 'running', 'v', 'x')
    expect((await messages()).length).toBeGreaterThanOrEqual(3)
  })
})
