import assert from 'node:assert/strict'
import { beforeEach, describe } from 'vitest'
import { ALERT_RETENTION_DAYS } from '../../../../src/domain/limits.ts'
import { inspect } from '../../../../src/redis/upkeep/inspection/inspect.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import { QUEUE } from '../../../../src/redis/base/layout/fields.ts'
import type { ShardKeys } from '../../../../src/redis/base/layout/keys.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { assertClean, claimed, openExecutor, pushOne } from '../../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { alerting, alertsOf } from './alert-stage.ts'

const DAY_MS = 86_400_000

let redis: TestRedis
let world: World
let keys: ShardKeys

test.beforeAll(({ emptyRedis }) => {
  redis = emptyRedis
})
beforeEach(async () => {
  world = await openWorld(redis, { shards: 1 })
  keys = shardKeys(world.engine, 0)
  return () => world.close()
})

let executors = 0
async function fail(queue: string): Promise<void> {
  await pushOne(world.newIntake(), { queue })
  executors += 1
  const source = await openExecutor(world, `e${executors}`)
  await source.finish([alerting(world, (await claimed(source, 1))[0], { retriesEnabled: false })])
  await source.leave()
}

const sweep = () => createShardMaintenance(world.engine, 0).sweep()

describe('alerts', () => {
  test('are kept for their retention, and then nothing of them', async () => {
    await fail('a')
    world.clock.advance(DAY_MS)
    await fail('b')
    world.clock.advance((ALERT_RETENTION_DAYS - 1) * DAY_MS - 1)
    await sweep()
    assert.equal((await alertsOf(world)).length, 4)
    // Two raised in one step count as a millisecond apart.
    world.clock.advance(2)
    await sweep()
    assert.deepEqual(
      (await alertsOf(world)).map(({ alert }) => alert.resource.name),
      ['b', 'b'],
    )
    assert.equal(await redis.client.hlen(keys.alertTotals('default')), 2)
    assert.equal(await redis.client.hget(keys.alertCounts('default'), 'u:failure'), '1')
    await assertClean(world)
    world.clock.advance(DAY_MS)
    await sweep()
    assert.deepEqual(await redis.client.keys('*:a[dofn]:*'), [])
    assert.equal(await redis.client.exists(keys.notices), 0)
    assert.equal(await redis.client.zscore(keys.retentionDue, 'adefault'), null)
    await assertClean(world)
  })

  test('leave the last failure of their queue in its hash', async () => {
    await fail('a')
    const text = await redis.client.hget(keys.queue('1').meta, QUEUE.lastFailure)
    assert.equal(text, `${world.clock.wallMs}|http_server_error`)
    await assertClean(world)
  })
})

describe('the inspection finds', () => {
  const RECORDS = () => keys.alertRecords('default')
  const newest = async () => String((await alertsOf(world)).at(-1)?.alert.id)

  test.each<readonly [string, RegExp, () => Promise<unknown>]>([
    [
      'a record that is damaged',
      /^holds \d+ = x/,
      async () => redis.client.hset(RECORDS(), await newest(), 'x'),
    ],
    [
      'a record of another shard',
      /^holds 65/,
      async () => redis.client.hset(RECORDS(), '65', (await redis.client.hvals(RECORDS()))[0] ?? ''),
    ],
    ['a record that no list shows', /^lacks alert/, () => redis.client.del(keys.alertOrder('default'))],
    [
      'a list that shows what is gone',
      /^names alert 64, /,
      () => redis.client.zadd(keys.alertOrder('default'), 64, '64'),
    ],
    [
      'a wrong number of unread ones',
      /^counts 3 unread/,
      () => redis.client.hincrby(keys.alertCounts('default'), 'u:failure', 2),
    ],
    [
      'an id that would be given again',
      /^has 5 for the last alert/,
      () => redis.client.hset(keys.alertCounts('default'), 'i', '5'),
    ],
    [
      'a total that is too low',
      /^counts 0 of failure\|http_server_error\|queue\|1;/,
      async () => {
        const id = (await alertsOf(world)).find(({ alert }) => alert.type === 'failure')?.alert.id
        const value = `${id}|0|${id}|${world.clock.wallMs}`
        await redis.client.hset(keys.alertTotals('default'), 'failure|http_server_error|queue|1', value)
      },
    ],
    [
      'a total that is damaged',
      /^holds warning\|x = y/,
      () => redis.client.hset(keys.alertTotals('default'), 'warning|x', 'y'),
    ],
    ['alerts that would stay for ever', /^lacks the alerts/, () => redis.client.del(keys.retentionDue)],
    [
      'a cron that says what it cannot',
      /^holds 9 = f/,
      () => redis.client.hset(keys.cronAlerts, '9', 'f||1|n|["n"]'),
    ],
  ])('%s', async (_, message, damage) => {
    await fail('a')
    await assertClean(world)
    await damage()
    const found = (await inspect(world.engine)).map((finding) => finding.message)
    assert.ok(
      found.some((one) => message.test(one)),
      found.join('; '),
    )
  })
})
