import assert from 'node:assert/strict'
import { beforeEach, describe, vi } from 'vitest'
import { StoreUnavailableError } from '../../../../src/domain/errors.ts'
import { NO_QUOTAS, quotasOf } from '../../../../src/domain/quotas.ts'
import { NO_TEAM_SETTINGS } from '../../../../src/ports/settings.ts'
import { NO_WINDOWS } from '../../../../src/ports/windows.ts'
import { inspect } from '../../../../src/redis/upkeep/inspection/inspect.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { purgeDeadLetters } from '../../../../src/redis/ledger/retention/dead-letters.ts'
import { assertClean, claimed, ended, pushAll } from '../../../support/engine/model-executor.ts'
import { commandsDuring } from '../../../support/servers/command-counts.ts'
import { STATISTICS } from '../../../../src/redis/base/layout/fields.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { DAY_MS, HOUR_MS, LimitStage, MINUTE_MS } from './limit-stage.ts'

const SATURATED = 'Queue emails is at its limit of 1 parallel call: 1 job waits, the oldest for 6 minutes.'

describe('limit warnings', () => {
  let redis: TestRedis
  let stage: LimitStage

  test.beforeAll(({ emptyRedis }) => {
    redis = emptyRedis
  })
  beforeEach(async () => {
    stage = await LimitStage.open(redis)
    return () => stage.world.close()
  })

  const purgeAll = async () => {
    const roots = await redis.client.zrange(stage.shard.queue('1').deadLetters, '0', '-1')
    for (let i = 0; i < roots.length; i += 100) {
      const page = roots.slice(i, i + 100)
      await purgeDeadLetters(stage.world.engine, stage.shard, { localId: '1', roots: page, onlyDue: false })
    }
  }

  test('tell of a saturated queue once, and again after it has cleared', async () => {
    const { source, work } = await stage.saturate()
    await stage.scan(5 * MINUTE_MS)
    assert.deepEqual(await stage.warnings(), [])
    await stage.scan()
    await stage.scan()
    assert.deepEqual(await stage.warnings(), [SATURATED])
    assert.ok(work)
    // The other job is called now and nothing waits.
    await source.beat(true)
    await source.finish([ended(stage.world, work)])
    const [second] = await claimed(source, 1)
    await stage.scan()
    assert.equal(await redis.client.hlen(stage.shard.limitWarnings), 1, 'only the scan itself is noted')
    await pushAll(stage.intake, 1)
    await stage.scan(6 * MINUTE_MS)
    assert.deepEqual(await stage.warnings(), [SATURATED, SATURATED])
    assert.ok(second)
  })

  test('tell of a queue whose slots are kept by the jobs of a lost executor, and stand while these wait', async () => {
    await stage.makeQueue('emails', { maxParallelism: 1 })
    await pushAll(stage.intake, 1)
    const source = await stage.executor()
    assert.equal((await claimed(source, 1)).length, 1)
    for (let i = 0; i < 2; i += 1) {
      stage.world.clock.advance(8_600)
      await stage.promote()
    }
    await createShardMaintenance(stage.world.engine, 0).reap()
    await stage.scan(5 * MINUTE_MS)
    await stage.scan()
    const [warning = ''] = await stage.warnings()
    assert.match(warning, /at its limit of 1 parallel call: 1 job waits/)
    await stage.scan()
    assert.deepEqual(await stage.warnings(), [warning], 'it did not clear and come again')
    assert.equal(await redis.client.hlen(stage.shard.limitWarnings), 2)
  })

  test('tell nothing of a queue whose alerts are switched off, and clear when they are', async () => {
    await stage.saturate()
    await stage.scan(6 * MINUTE_MS)
    await stage.makeQueue('emails', { maxParallelism: 1, alertsEnabled: false })
    await stage.scan()
    assert.equal(await redis.client.hlen(stage.shard.limitWarnings), 1)
    await stage.scan()
    assert.equal((await stage.warnings()).length, 1)
    await stage.makeQueue('emails', { maxParallelism: 1 })
    await stage.scan()
    assert.equal((await stage.warnings()).length, 2)
  })

  test('tell of dead letters that grow, and again after the hour', async () => {
    await stage.makeQueue('emails', { dlqRetentionDays: 30 })
    await stage.fail(99)
    await stage.scan()
    assert.deepEqual(await stage.warnings(), [])
    await stage.fail(1)
    await stage.scan()
    await stage.scan()
    assert.deepEqual(await stage.warnings(), ['Queue emails got 100 dead letters within an hour.'])
    // Below the lower bound of 50, without a further failure.
    await stage.scan(HOUR_MS)
    await stage.fail(100)
    await stage.scan()
    assert.deepEqual((await stage.warnings()).slice(1), ['Queue emails got 100 dead letters within an hour.'])
  })

  test('do not take old dead letters for new ones', async () => {
    await stage.makeQueue('emails', { dlqRetentionDays: 14 })
    await stage.fail(110)
    await stage.scan(7 * DAY_MS - MINUTE_MS)
    // With a retention of 7 days these would have been added just now.
    await stage.fail(1)
    await stage.scan()
    assert.deepEqual(await stage.warnings(), [])
  })

  test('tell of dead letters that will be purged within a day, until none is left', async () => {
    await stage.makeQueue('emails', { dlqRetentionDays: 3 })
    await stage.fail(2)
    await stage.scan(DAY_MS)
    assert.deepEqual(await stage.warnings(), [])
    await stage.scan(DAY_MS)
    await stage.scan(HOUR_MS)
    assert.deepEqual(await stage.warnings(), [
      '2 dead letters of queue emails will be purged within 24 hours: replay them before.',
    ])
    await purgeAll()
    await stage.scan()
    assert.equal(await redis.client.hlen(stage.shard.limitWarnings), 1)
    await assertClean(stage.world)
  })

  test('tell of each quota at 80 and at 100 percent, and again after it was below 70', async () => {
    stage.quotas = quotasOf({ pendingJobs: 10, queues: 100 })
    await stage.makeQueue('emails')
    await pushAll(stage.intake, 7)
    await stage.scan()
    assert.deepEqual(await stage.warnings(), [])
    await pushAll(stage.intake, 1)
    await stage.scan()
    await stage.scan()
    const nearly = 'Team default has used 80% of its quota of pending jobs (pendingJobs: 8 of 10).'
    assert.deepEqual(await stage.warnings(), [nearly])
    await pushAll(stage.intake, 2)
    await stage.scan(2 * MINUTE_MS)
    const all = 'Team default has used 100% of its quota of pending jobs (pendingJobs: 10 of 10).'
    assert.deepEqual(await stage.warnings(), [nearly, all])
    const source = await stage.executor()
    const end = async (count: number) =>
      source.finish((await claimed(source, count)).map((work) => ended(stage.world, work)))
    await end(3)
    await stage.scan(2 * MINUTE_MS)
    await stage.executor()
    await pushAll(stage.intake, 3)
    await stage.scan()
    assert.equal((await stage.warnings()).length, 2, 'it has not been below 70 %')
    const again = await stage.executor()
    await again.finish((await claimed(again, 4)).map((work) => ended(stage.world, work)))
    await stage.scan(2 * MINUTE_MS)
    await pushAll(stage.intake, 2)
    await stage.scan()
    assert.deepEqual(await stage.warnings(), [nearly, all, nearly])
    await assertClean(stage.world)
  })

  test('tell a team of the quotas that it reaches at the same time in one sentence', async () => {
    stage.quotas = quotasOf({ pendingJobs: 4, queues: 1 })
    await stage.makeQueue('emails')
    await pushAll(stage.intake, 4)
    await stage.scan()
    assert.deepEqual(await stage.warnings(), [
      'Team default has used 100% of its quota of queues (queues: 1 of 1), ' +
        '100% of its quota of pending jobs (pendingJobs: 4 of 4).',
    ])
  })

  test('tell every team that holds something when Redis is nearly full', async () => {
    await stage.makeQueue('emails')
    const info = await redis.client.info('memory')
    const used = Number(/^used_memory:(\d+)/m.exec(info)?.[1])
    const fill = (part: number) => redis.client.config('SET', 'maxmemory', String(Math.floor(used / part)))
    try {
      await fill(0.6)
      await stage.scan()
      assert.deepEqual(await stage.warnings(), [])
      await fill(0.85)
      await stage.scan()
      await fill(0.78)
      await stage.scan()
      assert.equal((await stage.warnings()).length, 1)
      assert.match((await stage.warnings())[0] ?? '', /^The job store is 8\d% full; from about 90% on it/)
      await fill(0.6)
      await stage.scan()
      assert.equal(await redis.client.hlen(stage.shard.limitWarnings), 1)
      await fill(0.85)
      await stage.scan()
      assert.equal((await stage.warnings()).length, 2)
    } finally {
      await redis.client.config('SET', 'maxmemory', '0')
    }
  })

  test('tell a team once, whatever shards its queues are in', async () => {
    const spread = await LimitStage.open(redis, 4)
    try {
      spread.quotas = quotasOf({ queues: 8 })
      for (let i = 0; i < 8; i += 1) await spread.makeQueue(`q${i}`)
      await spread.scan()
      await spread.scan()
      assert.deepEqual(await spread.warnings(), [
        'Team default has used 100% of its quota of queues (queues: 8 of 8).',
      ])
    } finally {
      spread.world.close()
    }
  })

  test('are scanned for by the minute round of an executor that knows the quotas', async () => {
    await stage.saturate()
    const { engine } = stage.world
    stage.world.clock.advance(5 * MINUTE_MS)
    await stage.executor()
    await createShardMaintenance(engine, 0).runMinuteRound()
    assert.deepEqual(await stage.warnings(), [])
    stage.world.clock.advance(MINUTE_MS)
    await stage.executor()
    const limits = { settings: { of: () => NO_TEAM_SETTINGS }, quotas: NO_QUOTAS }
    await createShardMaintenance(engine, 0, NO_WINDOWS, limits).runMinuteRound()
    assert.deepEqual(await stage.warnings(), [SATURATED])
  })

  test('that are damaged or have lost their queue are found by the inspection, and go with the next scans', async () => {
    await stage.makeQueue('emails')
    await redis.client.hset(stage.shard.limitWarnings, {
      'queue_saturated|q1': 'x',
      'queue_saturated|q77': '=1',
      nonsense: '=1',
    })
    const found = async () => (await inspect(stage.world.engine)).map(({ message }) => message)
    assert.deepEqual((await found()).toSorted(), [
      'holds nonsense = =1',
      'holds queue_saturated|q1 = x',
      'warns of queue 77, which is not there',
    ])
    await stage.scan()
    assert.deepEqual(await found(), ['holds nonsense = =1'])
  })

  test('that a window muted are told when it has closed, if they still stand', async () => {
    await stage.saturate()
    const mutes = { all: null, queues: new Map([['emails', 'night']]), crons: new Map() }
    stage.mutes = mutes
    await stage.scan(6 * MINUTE_MS)
    await stage.scan()
    assert.deepEqual(await stage.warnings(), [`${SATURATED} (night)`])
    stage.mutes = null
    await stage.scan()
    await stage.scan()
    stage.mutes = mutes
    await stage.scan()
    assert.deepEqual(
      (await stage.warnings()).map((text) => text.endsWith('(night)')),
      [true, false],
    )
  })

  test('are forgotten with their queue', async () => {
    await stage.saturate()
    await stage.scan(6 * MINUTE_MS)
    await createQueueStore(stage.world.engine).remove('default', 'emails')
    assert.equal(await redis.client.hlen(stage.shard.limitWarnings), 1)
    await assertClean(stage.world)
    await stage.scan()
    assert.equal((await stage.warnings()).length, 1)
  })

  test('of a queue that is deleted during the scan leave nothing behind', async () => {
    await stage.saturate()
    stage.world.faults.before = async ({ name }) => {
      if (name !== 'warn') return
      stage.world.faults.before = () => undefined
      await createQueueStore(stage.world.engine).remove('default', 'emails')
    }
    await stage.scan(6 * MINUTE_MS)
    assert.deepEqual(await stage.warnings(), [])
    await assertClean(stage.world)
  })

  test('are raised a minute later when the executor dies between scan and step', async () => {
    await stage.saturate()
    const { runner } = stage.world.engine
    const run = runner.run.bind(runner)
    const away = new StoreUnavailableError('the executor has died')
    const dying = vi
      .spyOn(runner, 'run')
      .mockImplementation((call, ...rest) =>
        call.name === 'warn' ? Promise.reject(away) : run(call, ...rest),
      )
    await assert.rejects(stage.scan(6 * MINUTE_MS))
    dying.mockRestore()
    assert.deepEqual(await stage.warnings(), [])
    await stage.scan()
    assert.equal((await stage.warnings()).length, 1)
  })

  test('are raised one by one when the step fails for all of them', async () => {
    await stage.saturate()
    stage.world.faults.torn.set('warn', 1)
    await stage.scan(6 * MINUTE_MS)
    assert.equal((await stage.warnings()).length, 1)
    await assertClean(stage.world)
  })

  test('that cannot be looked for by a defect keep no queue from being counted', async () => {
    await stage.saturate()
    stage.world.faults.before = ({ name }) => {
      if (name === 'take_scan') throw new Error('a defect')
    }
    await stage.scan(6 * MINUTE_MS)
    assert.deepEqual(await stage.warnings(), [])
    const minute = await redis.client.hget(stage.shard.statistics, STATISTICS.sampledMinute)
    assert.equal(Number(minute), Math.floor((stage.world.clock.wallMs - 15_000) / MINUTE_MS))
    stage.world.faults.before = () => undefined
    await stage.scan()
    assert.equal((await stage.warnings()).length, 1)
  })

  test('are raised once when the step is sent twice', async () => {
    await stage.saturate()
    stage.world.faults.resent.add('warn')
    await stage.scan(6 * MINUTE_MS)
    assert.deepEqual(await stage.warnings(), [SATURATED])
    await assertClean(stage.world)
  })

  test('are scanned for by one executor a minute', async () => {
    await stage.saturate()
    const scans: string[] = []
    stage.world.faults.after = ({ name, reply }) =>
      scans.push(`${name} ${name === 'take_scan' ? String(reply) : ''}`)
    await stage.scan(6 * MINUTE_MS)
    await stage.scan(10_000)
    const count = (what: string) => scans.filter((one) => one.trim() === what).length
    assert.deepEqual([count('take_scan 1'), count('read_queues'), count('warn')], [1, 1, 1])
  })

  test('are scanned for at once when the clock of Redis was set back', async () => {
    await stage.scan()
    await stage.saturate()
    await stage.scan(6 * MINUTE_MS)
    stage.world.clock.jump(-HOUR_MS)
    stage.quotas = quotasOf({ queues: 1 })
    await stage.scan()
    assert.equal((await stage.warnings()).length, 2)
  })

  test('cost the same with 10,000 idle queues', async () => {
    await stage.saturate()
    await stage.scan(2 * MINUTE_MS)
    await stage.scan()
    const before = await commandsDuring(redis.client, () => stage.scan())
    const { client } = redis
    const pipeline = client.pipeline()
    for (let id = 100; id < 10_100; id += 1) {
      const fields = ['n', `default/idle-${id}`, 'a', '1', 's', 'x', 'u', '1'] as const
      pipeline.hset(stage.shard.queue(String(id)).meta, ...fields)
      pipeline.hset(stage.shard.queueIds, `default/idle-${id}`, String(id))
    }
    await pipeline.exec()
    const after = await commandsDuring(redis.client, () => stage.scan())
    assert.deepEqual(after, before)
  })

  test('of more queues than one scan takes are raised by the next ones', async () => {
    const queues = Array.from({ length: 1_000 }, (_, i) => `q${i}`)
    for (const name of queues) await stage.makeQueue(name, { maxParallelism: 1 })
    for (const name of queues) await pushAll(stage.intake, 2, { queue: name })
    const source = await stage.executor()
    for (let claims = 0; claims < 40; claims += 1) await claimed(source, 64)
    const counts: number[] = []
    await stage.scan(6 * MINUTE_MS)
    for (let scans = 0; scans < 3; scans += 1) {
      counts.push((await redis.client.hlen(stage.shard.limitWarnings)) - 1)
      await stage.scan()
    }
    assert.deepEqual(counts, [500, 1_000, 1_000])
  })
})
