import assert from 'node:assert/strict'
import { beforeEach, describe } from 'vitest'
import { ALERT_COALESCE_MS, ALERT_FINGERPRINTS_MAX, LOST_LEASES_MAX } from '../../../../src/domain/limits.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import { StoreUnavailableError } from '../../../../src/domain/errors.ts'
import type { JobIntake } from '../../../../src/ports/jobs.ts'
import type { WindowSource } from '../../../../src/ports/windows.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import { RedisJobSource } from '../../../../src/redis/jobs/execute/job-source.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import {
  assertClean,
  claimed,
  ended,
  openExecutor,
  pushAll,
  pushOne,
} from '../../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../../support/engine/model-world.ts'
import { commandsDuring } from '../../../support/servers/command-counts.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { alerting, alertsOf, told } from './alert-stage.ts'

describe('alerts of a queue', () => {
  let redis: TestRedis
  let world: World
  let intake: JobIntake

  test.beforeAll(({ emptyRedis }) => {
    redis = emptyRedis
  })
  beforeEach(async () => {
    world = await openWorld(redis, { shards: 1 })
    intake = world.newIntake()
    return () => world.close()
  })

  const keys = () => shardKeys(world.engine, 0)
  const toldNow = async () => (await alertsOf(world)).map(told)
  const totals = () => redis.client.hgetall(keys().alertTotals('default'))

  test('are written in the step that ends the attempt, and equal ones counted', async () => {
    await pushAll(intake, 3)
    const source = await openExecutor(world, 'e1')
    const works = await claimed(source, 3)
    await source.finish([
      alerting(world, works[0]),
      alerting(world, works[1]),
      alerting(world, works[2], { retryDelays: [] }),
    ])
    assert.deepEqual(await toldNow(), [
      'warning http_server_error of queue emails ×3',
      'failure http_server_error of queue emails ×1',
    ])
    const [warning, failure] = await alertsOf(world)
    const [first, , third] = works.map(({ jobId }) => jobId)
    assert.equal(warning?.alert.jobId, first)
    assert.equal(
      warning?.alert.message,
      `Job ${first} of queue emails failed at attempt 1 (http_server_error, status 500 at target.test); it is tried again in 60 s.`,
    )
    assert.equal(
      failure?.alert.message,
      `Job ${third} of queue emails failed at attempt 1 (http_server_error, status 500 at target.test) and is a dead letter.`,
    )
    assert.deepEqual(await redis.client.zrange(keys().notices, '0', '-1'), ['default'])
    await assertClean(world)
  })

  test('raise nothing where they are switched off, on success and on a retry that fails', async () => {
    await pushAll(intake, 2)
    const source = await openExecutor(world, 'e1')
    const [first, second] = await claimed(source, 2)
    await source.finish([
      alerting(world, first, { failed: false }),
      alerting(world, second, { alertsEnabled: false, retryDelays: [] }),
    ])
    await pushOne(intake)
    const [third] = await claimed(source, 1)
    assert.ok(third?.kind === 'job')
    await source.finish([alerting(world, { ...third, attempt: 2, earlier: [] })])
    assert.deepEqual(await toldNow(), [])
    assert.equal(await redis.client.exists(keys().notices), 0)
  })

  test('are a record for each minute, and another once one is read', async () => {
    const source = await openExecutor(world, 'e1')
    const fail = async () => {
      await pushOne(intake)
      await source.finish([alerting(world, (await claimed(source, 1))[0])])
    }
    await fail()
    world.clock.advance(ALERT_COALESCE_MS - 1)
    await source.beat(true)
    await fail()
    assert.deepEqual(await toldNow(), ['warning http_server_error of queue emails ×2'])
    world.clock.advance(1)
    await fail()
    const [, open] = await alertsOf(world)
    assert.equal(open?.totalBefore, 2)
    const text = await redis.client.hget(keys().alertRecords('default'), String(open?.alert.id))
    await redis.client.hset(keys().alertRecords('default'), String(open?.alert.id), `0${text?.slice(1)}`)
    await redis.client.hincrby(keys().alertCounts('default'), 'u:warning', -1)
    await fail()
    assert.equal((await alertsOf(world)).length, 3)
    const [first] = await alertsOf(world)
    const [total] = Object.values(await totals())
    assert.match(total ?? '', new RegExp(`^${first?.alert.id}\\|4\\|`))
    await assertClean(world)
  })

  test('are not raised twice by a finish that is sent again', async () => {
    await pushOne(intake)
    const source = await openExecutor(world, 'e1')
    const ends = [alerting(world, (await claimed(source, 1))[0], { retriesEnabled: false })]
    world.faults.lost.add('finish')
    await assert.rejects(source.finish(ends), StoreUnavailableError)
    assert.deepEqual(await source.finish(ends), ['done'])
    assert.deepEqual(await toldNow(), [
      'warning http_server_error of queue emails ×1',
      'failure http_server_error of queue emails ×1',
    ])
    await assertClean(world)
  })

  test('are not raised by a stale end, though the job ends in the same batch', async () => {
    await pushOne(intake)
    const source = await openExecutor(world, 'e1')
    const [first] = await claimed(source, 1)
    assert.ok(first !== undefined)
    await source.finish([{ type: 'released', work: first }])
    const [second] = await claimed(source, 1)
    const ends = [alerting(world, first), alerting(world, second, { failed: false })]
    assert.deepEqual(await source.finish(ends), ['stale', 'done'])
    assert.deepEqual(await toldNow(), [])
  })

  test('are not raised for a deleted queue or a damaged record', async () => {
    await pushAll(intake, 2)
    const source = await openExecutor(world, 'e1')
    const [first, second] = await claimed(source, 2)
    await redis.client.hset(keys().queue('1').records, String(first?.jobId), 'nonsense')
    await source.finish([alerting(world, first)])
    await createQueueStore(world.engine).remove('default', 'emails')
    await source.finish([alerting(world, second)])
    assert.deepEqual(await toldNow(), [])
  })

  test('come from the last lost lease too', async () => {
    const settings = { ...DEFAULT_QUEUE_SETTINGS, alertsEnabled: true, retriesEnabled: false }
    await createQueueStore(world.engine).apply('default', 'emails', settings)
    await pushOne(intake)
    const upkeep = createShardMaintenance(world.engine, 0)
    for (let loss = 1; loss <= LOST_LEASES_MAX; loss += 1) {
      await claimed(await openExecutor(world, `e${loss}`), 1)
      for (let i = 0; i < 2; i += 1) {
        world.clock.advance(9_000)
        await upkeep.promote()
      }
      assert.deepEqual(await toldNow(), [])
      await upkeep.reap()
    }
    assert.deepEqual(await toldNow(), [
      'warning executor_lost of queue emails ×1',
      'failure executor_lost of queue emails ×1',
    ])
    await assertClean(world)
  })

  test('are kept apart while a window mutes them, and not counted', async () => {
    let muted = true
    const windows: WindowSource = {
      mutes: (team) =>
        muted && team === 'default'
          ? { all: null, queues: new Map([['emails', 'night']]), crons: new Map() }
          : null,
      holds: () => [],
    }
    const source = new RedisJobSource(world.engine, 0, 'e1', { windows })
    await source.beat(true)
    await pushAll(intake, 3)
    const works = await claimed(source, 3)
    await source.finish([alerting(world, works[0])])
    assert.equal(await redis.client.exists(keys().notices), 0)
    assert.match(Object.values(await totals())[0] ?? '', /^\d+\|0\|/)
    muted = false
    await source.finish([alerting(world, works[1])])
    muted = true
    await source.finish([alerting(world, works[2])])
    assert.deepEqual(await toldNow(), [
      'warning http_server_error of queue emails ×1 muted by night',
      'warning http_server_error of queue emails ×1',
      'warning http_server_error of queue emails ×1 muted by night',
    ])
    assert.match(Object.values(await totals())[0] ?? '', /^\d+\|1\|/)
    await assertClean(world)
  })

  test('of many queues share one total above the bound, and no record', async () => {
    const filler = Array.from({ length: ALERT_FINGERPRINTS_MAX }, (_, i) => [
      `failure|timeout|queue|${i + 10}`,
      '64|1|64|1960000000000',
    ])
    await redis.client.hset(keys().alertTotals('default'), Object.fromEntries(filler))
    const source = await openExecutor(world, 'e1')
    for (const queue of ['a', 'b', 'a']) {
      await pushOne(intake, { queue })
      await source.finish([alerting(world, (await claimed(source, 1))[0])])
    }
    assert.equal((await alertsOf(world)).length, 3)
    const { 'warning|other': other } = await totals()
    assert.match(other ?? '', /^\d+\|3\|/)
    assert.equal(await redis.client.hlen(keys().alertTotals('default')), ALERT_FINGERPRINTS_MAX + 1)
  })

  test('drop the oldest above the bound', async () => {
    const source = await openExecutor(world, 'e1')
    const fail = async () => {
      await pushOne(intake)
      await source.finish([alerting(world, (await claimed(source, 1))[0])])
    }
    await fail()
    const [record] = await alertsOf(world)
    const [text] = Object.values(await redis.client.hgetall(keys().alertRecords('default')))
    const newest = record?.alert.id ?? 0
    const older = Array.from({ length: 10_000 }, (_, i) => String(newest - 64 * (i + 1)))
    await redis.client.hset(
      keys().alertRecords('default'),
      Object.fromEntries(older.map((id) => [id, text ?? ''])),
    )
    await redis.client.zadd(keys().alertOrder('default'), ...older.flatMap((id) => [id, id]))
    await redis.client.hincrby(keys().alertCounts('default'), 'u:warning', 10_000)
    world.clock.advance(ALERT_COALESCE_MS)
    await source.beat(true)
    await fail()
    assert.equal((await alertsOf(world)).length, 10_000)
    assert.equal(await redis.client.hget(keys().alertCounts('default'), 'u:warning'), '10000')
    assert.equal(await redis.client.hexists(keys().alertRecords('default'), older.at(-2) ?? ''), 0)
  })

  test('cost an end that raises none no command', async () => {
    await pushAll(intake, 4)
    const source = await openExecutor(world, 'e1')
    const works = await claimed(source, 4)
    // The first failure of its kind makes an issue.
    await source.finish([ended(world, works[3] as never, { failed: true })])
    const counts = (end: Parameters<typeof source.finish>[0]) =>
      commandsDuring(redis.client, () => source.finish(end))
    const silent = await counts([ended(world, works[0] as never, { failed: true })])
    const raising = await counts([alerting(world, works[1])])
    const again = await counts([ended(world, works[2] as never, { failed: true })])
    const sum = (calls: Record<string, number>) => Object.values(calls).reduce((a, b) => a + b, 0)
    assert.deepEqual(again, silent)
    assert.ok(sum(raising) > sum(silent))
    // What the step took before there were alerts, with its own EVALSHA, one for the statistics and two for the issue.
    assert.equal(sum(silent), 20)
  })
})
