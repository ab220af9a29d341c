import { afterAll, beforeEach, describe, expect } from 'vitest'
import type { RedisConnection } from '../../../../src/redis/base/client/connection.ts'
import { ANY_JOB } from '../../../../src/domain/jobs/job-filter.ts'
import { shardOfQueue } from '../../../../src/redis/base/engine/engine.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import {
  assertClean,
  callRecord,
  claimed,
  ended,
  openExecutor,
} from '../../../support/engine/model-executor.ts'
import { openConnection, openWorld } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { AN_ACTOR } from '../../../support/principals.ts'
import { BulkStage, TEAM } from './bulk-stage.ts'

describe('a bulk on chains that have ended', () => {
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

  const chainEnd = async (id: number) => {
    const chain = await createJobStore(stage.world.engine).get(TEAM, id)
    return chain?.replayedAs === null ? 'not replayed' : chain === null ? null : 'replayed'
  }

  test('retries what has failed, by a filter, and nothing that it made itself', async () => {
    const request = { payload: '{"a":1}', tags: { kind: 'invoice' } }
    const large = { ...request, payload: JSON.stringify('x'.repeat(9_000)) }
    const failed = await stage.finished(130, { failed: true, kept: true }, { request })
    failed.push(...(await stage.finished(5, { failed: true, kept: true }, { request: large })))
    const lost = await stage.finished(3, { failed: true, kept: false }, { request })
    const succeeded = await stage.finished(4, { failed: false, kept: true }, { request })
    const before = await stage.finished(1, { failed: true, kept: true }, { request })
    const dead = await stage.deadLetters(120)
    const jobs = createJobStore(stage.world.engine)
    await jobs.retry(TEAM, before[0] as number, AN_ACTOR)
    await stage.endAll(() => ({ failed: false }))
    stage.world.clock.advance(1)
    const order = { filter: { ...ANY_JOB, status: 'failed' }, kind: 'filter' } as const
    expect(
      await stage.store.preview(TEAM, { action: 'retry', target: order, ratePerSecond: null }),
    ).toMatchObject({ matched: 258, isAtLeast: false })
    const bulk = await stage.create('retry', { status: 'failed' })
    const shards = stage.openShards()
    await stage.begin(shards)
    // What a page makes fails at once, with all that is needed to retry it.
    const payloads: Array<string | null> = []
    while (await stage.round(shards)) {
      stage.world.clock.advance(1)
      await stage.endAll((work) => {
        payloads.push(work.request.payload)
        return { failed: true }
      })
    }
    expect(payloads.filter((payload) => payload === request.payload)).toHaveLength(130)
    expect(payloads.filter((payload) => payload === large.payload)).toHaveLength(5)
    expect(payloads).toHaveLength(255)
    expect(await counts(bulk.id)).toEqual({ state: 'done', matched: 258, done: 255, skipped: 0, failed: 3 })
    expect(await stage.store.failures(TEAM, bulk.id)).toEqual(
      expect.arrayContaining(lost.map((jobId) => ({ jobId, reason: 'not_kept' }))),
    )
    for (const id of [...failed.slice(0, 5), ...dead.slice(0, 5)]) {
      const chain = await jobs.get(TEAM, id)
      const made = await jobs.get(TEAM, chain?.replayedAs ?? expect.fail('not retried'))
      expect(made).toMatchObject({ replayedAs: null, request: { tags: chain?.request.tags } })
    }
    for (const id of succeeded) expect(await chainEnd(id)).toBe('not replayed')
    await assertClean(stage.world)
  })

  test('retries a named chain once, and says of others why not', async () => {
    const [failed] = await stage.finished(1, { failed: true, kept: true })
    const [succeeded] = await stage.finished(1, { failed: false, kept: true })
    const [dead] = await stage.deadLetters(1)
    const [pending] = await stage.push(1)
    const { jobIds } = stage.world.engine
    // Another attempt of the same chain, in the same page.
    const second = (id: number) => jobIds.idOf(jobIds.shardOf(id), jobIds.seqOf(id), 2)
    const ids = [
      failed,
      second(failed as number),
      succeeded,
      dead,
      second(dead as number),
      pending,
    ] as number[]
    const bulk = await stage.create('retry', ids)
    await stage.drive()
    expect(await counts(bulk.id)).toMatchObject({ done: 2, failed: 4 })
    expect((await stage.store.failures(TEAM, bulk.id)).toSorted((a, b) => a.jobId - b.jobId)).toEqual(
      [
        { jobId: second(failed as number), reason: 'already_made' },
        { jobId: succeeded, reason: 'not_failed' },
        { jobId: second(dead as number), reason: 'already_made' },
        { jobId: pending, reason: 'not_ended' },
      ].toSorted((a, b) => (a.jobId ?? 0) - (b.jobId ?? 0)),
    )
    expect(await stage.failAll()).toBe(3)
    await assertClean(stage.world)
  })

  test('works a page off again when its block of ids belongs to another process', async () => {
    const dead = await stage.deadLetters(5)
    stage.world.clock.advance(1)
    const { jobBlock, jobIndex } = shardOfQueue(stage.world.engine, TEAM, 'emails')
    const next = jobIndex(Number(await connection.get(jobBlock)) + 1)
    await connection.hset(next, 'o', 'another')
    const bulk = await stage.create('replay', dead)
    await stage.drive()
    expect(await counts(bulk.id)).toEqual({ state: 'done', matched: 5, done: 5, skipped: 0, failed: 0 })
    expect(await connection.hlen(next)).toBe(1)
    await connection.del(next)
    expect(await stage.failAll()).toBe(5)
    await assertClean(stage.world)
  })

  test('names a job as a failure whose record is damaged between the look and the step', async () => {
    const delayed = await stage.push(2, { start: { delaySeconds: 30 } })
    stage.world.clock.advance(1)
    const keys = shardOfQueue(stage.world.engine, TEAM, 'emails')
    const { records } = keys.queue((await connection.hget(keys.queueIds, `${TEAM}/emails`)) ?? '')
    const bulk = await stage.create('fire', { queue: 'emails' })
    stage.world.faults.before = async ({ name }) => {
      if (name === 'open_page') await connection.hset(records, String(delayed[1]), 'damaged')
    }
    await stage.drive()
    expect(await counts(bulk.id)).toMatchObject({ done: 1, skipped: 0, failed: 1 })
    expect(await stage.store.failures(TEAM, bulk.id)).toEqual([{ jobId: delayed[1], reason: 'damaged' }])
  })

  test('retries no chain that somebody else retries between the look and the step', async () => {
    const failed = await stage.finished(20, { failed: true, kept: true })
    stage.world.clock.advance(1)
    const bulk = await stage.create('retry', { status: 'failed' })
    const jobs = createJobStore(stage.world.engine)
    let isFirst = true
    stage.world.faults.before = async ({ name }) => {
      if (name !== 'remake_page' || !isFirst) return
      isFirst = false
      await jobs.retry(TEAM, failed[3] as number, AN_ACTOR)
      await jobs.remove(TEAM, failed[4] as number, AN_ACTOR, true)
    }
    await stage.drive()
    expect(await counts(bulk.id)).toEqual({ state: 'done', matched: 20, done: 18, skipped: 2, failed: 0 })
    expect(await stage.failAll()).toBe(19)
    await assertClean(stage.world)
  })

  test('deletes chains that have ended, with their call records, and skips what is in flight', async () => {
    await stage.finished(90, { failed: true, kept: true })
    await stage.finished(40, { failed: false, kept: true }, { queue: 'other' })
    await stage.deadLetters(12)
    await stage.push(1, { queue: 'flying' })
    const flying = shardOfQueue(stage.world.engine, TEAM, 'flying')
    const source = await openExecutor(stage.world, 'holder', flying.shard)
    expect(await claimed(source, 5)).toHaveLength(1)
    await stage.push(30)
    stage.world.clock.advance(1)
    const bulk = await stage.create('delete', {})
    let pages = 0
    stage.world.faults.after = ({ name }) => void (pages += name === 'delete_page' ? 1 : 0)
    await stage.drive()
    expect(await counts(bulk.id)).toEqual({ state: 'done', matched: 173, done: 172, skipped: 1, failed: 0 })
    // At most 25 chains with call records in a step.
    expect(pages).toBeGreaterThanOrEqual(6)
    for (const keys of stage.world.engine.shards) {
      for (const id of Object.values(await redis.client.hgetall(keys.queueIds))) {
        const k = keys.queue(id)
        expect(
          await redis.client.exists(k.summaries, k.callRecords, k.failedCalls, k.deadLetterRecords),
        ).toBe(0)
      }
    }
    await assertClean(stage.world)
  })

  test('deletes the call records of all attempts of a chain', async () => {
    const [id] = await stage.push(1)
    const keys = shardOfQueue(stage.world.engine, TEAM, 'emails')
    for (const failed of [true, false]) {
      stage.world.clock.advance(3_600_000)
      for (let i = 0; i < 5; i += 1) await createShardMaintenance(stage.world.engine, keys.shard).promote()
      const source = await openExecutor(stage.world, `runs ${failed}`, keys.shard)
      const [work] = await claimed(source, 1)
      if (work?.kind !== 'job') expect.fail()
      const call = callRecord(work, stage.world.engine.runner.redisNowMs(keys.shard), 10)
      await source.finish([ended(stage.world, work, { failed, call })])
      await source.leave()
    }
    const localId = (await connection.hget(keys.queueIds, `${TEAM}/emails`)) ?? ''
    const { callRecords } = keys.queue(localId)
    expect(await redis.client.hlen(callRecords)).toBe(2)
    const bulk = await stage.create('delete', [id as number])
    await stage.drive()
    expect(await counts(bulk.id)).toMatchObject({ done: 1, failed: 0 })
    expect(await redis.client.exists(callRecords)).toBe(0)
    await assertClean(stage.world)
  })

  test('deletes no named job whose chain goes on with a retry', async () => {
    const [id] = await stage.push(1)
    const source = await openExecutor(
      stage.world,
      'failing',
      shardOfQueue(stage.world.engine, TEAM, 'emails').shard,
    )
    const [work] = await claimed(source, 1)
    await source.finish([ended(stage.world, work ?? expect.fail(), { failed: true })])
    const bulk = await stage.create('delete', [id as number])
    await stage.drive()
    expect(await counts(bulk.id)).toMatchObject({ done: 0, failed: 1 })
    expect(await stage.store.failures(TEAM, bulk.id)).toEqual([{ jobId: id, reason: 'not_ended' }])
    await assertClean(stage.world)
  })
})
