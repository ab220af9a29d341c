import assert from 'node:assert/strict'
import { ANY_JOB, type JobFilter } from '../../../../src/domain/jobs/job-filter.ts'
import { beforeEach, describe } from 'vitest'
import { formatJobCursor } from '../../../../src/redis/jobs/search/job-cursor.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { purgeDeadLetters } from '../../../../src/redis/ledger/retention/dead-letters.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import {
  assertClean,
  callRecord,
  claimed,
  ended,
  pushAll,
  pushOne,
} from '../../../support/engine/model-executor.ts'
import { DAY_MS, ONCE, QueueStage } from './queue-stage.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { AN_ACTOR } from '../../../support/principals.ts'

describe('queues and their dead letters', () => {
  let redis: TestRedis
  let stage: QueueStage

  test.beforeAll(({ emptyRedis }) => {
    redis = emptyRedis
  })
  beforeEach(async () => {
    stage = await QueueStage.open(redis)
    return () => stage.world.close()
  })

  /** Microseconds Redis spent on one removal of the queue. */
  async function removeTimed(): Promise<number> {
    await redis.client.config('RESETSTAT')
    assert.equal(await createQueueStore(stage.world.engine).remove('default', 'emails'), 'removed')
    const stats = await redis.client.info('commandstats')
    const found = /cmdstat_eval(?:sha)?:calls=1,usec=(\d+)/.exec(stats)
    assert.ok(found, stats)
    return Number(found[1])
  }

  test('a queue of 100,000 jobs is deleted in the time of a small one, and sweep forgets the rest', async () => {
    await pushOne(stage.intake)
    await removeTimed()
    await pushOne(stage.intake)
    const few = await removeTimed()
    await stage.sweepAll()
    for (let i = 0; i < 10; i += 1) {
      await pushAll(stage.intake, 10_000, i % 2 === 0 ? {} : { start: { delaySeconds: 30 } })
    }
    const many = await removeTimed()
    assert.ok(many < few * 20 + 2_000, `${many} µs for 100,000 jobs, ${few} µs for one`)
    await stage.sweepAll()
    await createShardMaintenance(stage.world.engine, 0).promote()
    await assertClean(stage.world)
    assert.deepEqual(await redis.client.keys('*ix:*'), [])
    assert.deepEqual(await redis.client.keys('*trash*'), [])
    assert.equal(
      await redis.client.exists(stage.shard.settings, stage.shard.settingsUses, stage.shard.retentionDue),
      0,
    )
  })

  test('a deleted queue leaves nothing of any kind behind', async () => {
    await stage.makeDeadLetters(2, JSON.stringify('x'.repeat(5000)))
    await pushAll(stage.intake, 6, { request: { payload: JSON.stringify('y'.repeat(5000)) } })
    await pushOne(stage.intake, { start: { delaySeconds: 500 } })
    const source = await stage.beat()
    const works = await claimed(source, 4)
    const ends = works.slice(0, 3).map((work, i) => {
      const call = work.kind === 'job' ? callRecord(work, stage.world.clock.wallMs, 50) : undefined
      return ended(stage.world, work, { failed: i > 0, ...(call === undefined ? {} : { call }) })
    })
    await source.finish(ends)
    await assertClean(stage.world)
    await createQueueStore(stage.world.engine).remove('default', 'emails')
    await assertClean(stage.world)
    await stage.sweepAll()
    await source.leave()
    stage.world.clock.advance(600_000)
    await createShardMaintenance(stage.world.engine, 0).promote()
    await createShardMaintenance(stage.world.engine, 0).promote()
    await assertClean(stage.world)
    const kept = /:(clk|seq|qseq|tok|use|tu|mark|tn|teams|meta|sl|im:[\w-]+)$/
    assert.deepEqual(
      (await redis.client.keys('*')).filter((key) => !kept.test(key)),
      [],
    )
  })

  test('a replay keeps the job, takes the settings of now, and is done once', async () => {
    const payload = JSON.stringify('x'.repeat(5000))
    const [root] = await stage.makeDeadLetters(1, payload)
    await createQueueStore(stage.world.engine).apply('default', 'emails', { ...ONCE, timeoutSeconds: 77 })
    stage.world.faults.resent.add('remake_page')
    const answer = await createJobStore(stage.world.engine).replay('default', root as number, AN_ACTOR)
    assert.equal(answer.status, 'made')
    await assertClean(stage.world)
    const source = await stage.beat()
    const works = await claimed(source, 64)
    assert.equal(works.length, 1)
    const [work] = works
    assert.ok(work?.kind === 'job')
    assert.equal(work.request.payload, payload)
    assert.equal(work.settings.timeoutSeconds, 77)
    assert.equal(work.attempt, 1)
  })

  test('dead letters go at their time, and at once when purged', async () => {
    const roots = await stage.makeDeadLetters(3)
    assert.equal(
      await purgeDeadLetters(stage.world.engine, stage.shard, {
        localId: '1',
        roots: [String(roots[0])],
        onlyDue: true,
      }),
      0,
    )
    assert.equal(
      await purgeDeadLetters(stage.world.engine, stage.shard, {
        localId: '1',
        roots: [String(roots[0])],
        onlyDue: false,
      }),
      1,
    )
    await assertClean(stage.world)
    stage.world.clock.advance(14 * DAY_MS - 2_000)
    await stage.beat()
    await stage.sweepAll()
    assert.equal(await redis.client.zcard(stage.shard.queue('1').deadLetters), 2)
    stage.world.clock.advance(2_000)
    await stage.beat()
    await stage.sweepAll()
    assert.equal(await redis.client.zcard(stage.shard.queue('1').deadLetters), 0)
    assert.equal(await redis.client.exists(stage.shard.retentionDue), 0)
    await assertClean(stage.world)
  })

  test.each([
    ['dead', 'the beginning', { kind: 'purge', purgeMs: Number.MAX_SAFE_INTEGER, id: 1 }, 3],
    ['dead', 'the end', { kind: 'purge', purgeMs: 0, id: 0 }, 0],
    ['finished', 'the beginning', { kind: 'left', left: 1_000_000 }, 3],
    ['finished', 'the end', { kind: 'left', left: 0 }, 0],
  ] as const)('a place in the %s jobs past %s leads on', async (section, _, spot, count) => {
    const roots = section === 'dead' ? await stage.makeDeadLetters(3) : await stage.makeFinished(3)
    const query = { team: 'default', filter: { ...ANY_JOB, queue: 'emails' }, queues: null, limit: 10 }
    const cursor = formatJobCursor(query, { queue: 'emails', section, spot })
    const page = await createJobStore(stage.world.engine).list({ ...query, cursor })
    assert.ok(typeof page !== 'string')
    assert.deepEqual(
      page.jobs.map(({ jobId }) => jobId),
      roots.toReversed().slice(0, count),
    )
    assert.equal(page.nextCursor, null)
  })

  test('a list shows what it can of jobs that cannot be read', async () => {
    const [bad = 0, dead = 0] = await stage.makeDeadLetters(2)
    const [badEnded = 0, finished = 0] = await stage.makeFinished(2)
    const [badOpen = 0, open = 0] = await pushAll(stage.intake, 2)
    const { records: b, summaries: d, deadLetterRecords: xb } = stage.shard.queue('1')
    await redis.client.hset(xb, String(bad), 'odd')
    await redis.client.hset(d, String(badEnded), '["s",')
    await redis.client.hset(b, String(badOpen), 'odd')
    const list = (status: JobFilter['status']) =>
      createJobStore(stage.world.engine).list({
        team: 'default',
        filter: { ...ANY_JOB, queue: 'emails', status },
        queues: null,
        limit: 10,
        cursor: null,
      })
    for (const [status, ids] of [
      [null, [open, badOpen, bad, dead, finished]],
      ['pending', [open]],
      ['dead_lettered', [bad, dead]],
      ['completed', [finished]],
    ] as const) {
      const page = await list(status)
      assert.ok(typeof page !== 'string')
      assert.deepEqual(new Set(page.jobs.map(({ jobId }) => jobId)), new Set(ids))
    }
  })
})
