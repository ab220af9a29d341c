import assert from 'node:assert/strict'
import { createCronStats } from '../../../src/redis/crons/cron-stats.ts'
import { assertClean, ended } from '../../support/engine/model-executor.ts'
import { openWorld } from '../../support/engine/model-world.ts'
import type { TestRedis } from '../../support/servers/redis-server.ts'
import { test } from '../../support/servers/shared-redis.ts'
import { CronStage, NAME, TEAM } from './cron-stage.ts'

let redis: TestRedis

test.beforeAll(({ emptyRedis }) => {
  redis = emptyRedis
})

test('a cron is failing from the failure that it raised until a success, wherever it lives', async () => {
  const world = await openWorld(redis, { shards: 3 })
  const stage = new CronStage(world)
  await stage.openExecutors()
  const stats = createCronStats(world.engine)
  const entry = async () => {
    const [found, unknown] = await stats.read([
      { team: TEAM, name: NAME },
      { team: TEAM, name: 'unknown' },
    ])
    assert.equal(unknown, null)
    return found ?? assert.fail('no such cron')
  }
  const run = async (failed: boolean): Promise<void> => {
    await stage.store.runNow(TEAM, (await entry()).cronId)
    await endAll(failed)
  }
  const endAll = async (failed: boolean): Promise<void> => {
    for (const { source, work } of await stage.claimAll()) {
      assert.ok(work.kind === 'job')
      const settings = { ...work.settings, retriesEnabled: false }
      await source.finish([ended(world, { ...work, settings }, { failed })])
    }
  }
  await stage.apply('there', { alertThreshold: 2 })
  assert.equal((await entry()).failing, null)
  await run(true)
  assert.equal((await entry()).failing, null)
  await run(true)
  assert.equal((await entry()).failing, 'http_server_error')
  await stage.apply('elsewhere', { alertThreshold: 3 })
  assert.equal((await entry()).failing, 'http_server_error')
  await run(false)
  assert.deepEqual([(await entry()).failing, (await entry()).lastRun?.result], [null, 'succeeded'])

  // Of runs that overlap, the newest that has failed counts.
  const last = async () => (await entry()).lastFailure?.reason
  assert.equal(await last(), undefined)
  await run(true)
  const failedAtMs = (await entry()).lastRun?.scheduledAtMs
  world.clock.advance(1_000)
  await stage.store.runNow(TEAM, (await entry()).cronId)
  assert.equal((await entry()).lastRun?.result, 'running')
  assert.deepEqual((await entry()).lastFailure, { scheduledAtMs: failedAtMs, reason: 'http_server_error' })
  await assertClean(world)
  await endAll(false)

  // A success that a program without alerts has counted.
  await run(true)
  await run(true)
  await run(true)
  assert.equal((await entry()).failing, 'http_server_error')
  const { cronStates } = world.engine.shards[stage.shardAt('elsewhere')] ?? assert.fail()
  const [[id, state] = assert.fail()] = Object.entries(await redis.client.hgetall(cronStates))
  await redis.client.hset(cronStates, id, state.replace(/\|3\|(\d*)$/, '|0|$1'))
  assert.equal((await entry()).failing, null)
  world.close()
})
