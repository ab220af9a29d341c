import assert from 'node:assert/strict'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { StorageFullError } from '../../../../src/domain/errors.ts'
import { quotasOf, type TeamQuotas } from '../../../../src/domain/quotas.ts'
import type { RedisConnection } from '../../../../src/redis/base/client/connection.ts'
import { shardOfQueue } from '../../../../src/redis/base/engine/engine.ts'
import { createBulkActs } from '../../../../src/redis/jobs/bulk/acts.ts'
import { createBulkShard } from '../../../../src/redis/jobs/bulk/bulk-shard.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import { QuotaKeeper } from '../../../../src/redis/ledger/quotas/quota-keeper.ts'
import { createFakeClock, type FakeClock } from '../../../support/fake-clock.ts'
import { assertClean } from '../../../support/engine/model-executor.ts'
import { openConnection, openWorld } from '../../../support/engine/model-world.ts'
import { AN_ACTOR } from '../../../support/principals.ts'
import { heldBytes, startRedis, type TestRedis } from '../../../support/servers/redis-server.ts'
import { BulkStage, TEAM } from '../bulk/bulk-stage.ts'

/** What intake leaves free of a small Redis. */
const RESERVE_BYTES = 8 * 1024 ** 2
/** After so long a refused job is worth another reading, and nothing is read behind its back yet. */
const WORTH_READING_MS = 300

let redis: TestRedis
let connection: RedisConnection
let stage: BulkStage
let clock: FakeClock

beforeAll(async () => {
  redis = await startRedis({ settings: ['--appendonly', 'no'] })
  connection = await openConnection(redis.url)
})
afterAll(async () => {
  connection.disconnect()
  await redis.stop()
})
beforeEach(async () => {
  await redis.client.config('SET', 'maxmemory', '0')
  stage = new BulkStage(await openWorld(redis, { connection }))
  clock = createFakeClock()
})

function keeperOf(quotas: Partial<TeamQuotas>): QuotaKeeper {
  return new QuotaKeeper({ engine: stage.world.engine, clock, quotasOf: () => quotasOf(quotas) })
}

const storeOf = (keeper: QuotaKeeper) => createJobStore(stage.world.engine, keeper)

test('a replay and a retry are refused as a push is when only the reserve is left, and made when there is room', async () => {
  const [dead = 0] = await stage.deadLetters(1)
  const [failed = 0] = await stage.finished(1, { failed: true, kept: true })
  const bytes = { storedBytes: 1024 ** 3 }
  await redis.client.config('SET', 'maxmemory', String((await heldBytes(redis.client)) + RESERVE_BYTES - 1))
  await assert.rejects(storeOf(keeperOf(bytes)).replay(TEAM, dead, AN_ACTOR), StorageFullError)
  await assert.rejects(storeOf(keeperOf(bytes)).retry(TEAM, failed, AN_ACTOR), StorageFullError)
  await redis.client.config('SET', 'maxmemory', '0')
  const roomy = storeOf(keeperOf(bytes))
  expect(await roomy.replay(TEAM, dead, AN_ACTOR)).toMatchObject({ status: 'made' })
  expect(await roomy.retry(TEAM, failed, AN_ACTOR)).toMatchObject({ status: 'made' })
  await assertClean(stage.world)
})

describe('by a reading that is out of date, as the last place was freed in another shard,', () => {
  let failed: number
  let keeper: QuotaKeeper

  beforeEach(async () => {
    const shardOf = (queue: string) => shardOfQueue(stage.world.engine, TEAM, queue).shard
    const other = Array.from({ length: 16 }, (_, i) => `q${i}`).find(
      (queue) => shardOf(queue) !== shardOf('emails'),
    )
    ;[failed = 0] = await stage.finished(1, { failed: true, kept: true })
    const [holder = 0] = await stage.push(1, { queue: other ?? assert.fail() })
    keeper = keeperOf({ pendingJobs: 1 })
    const refused = { status: 'over_quota', quota: 'pendingJobs' }
    assert.deepEqual(await storeOf(keeper).retry(TEAM, failed, AN_ACTOR), refused)
    await createJobStore(stage.world.engine).remove(TEAM, holder, AN_ACTOR, false)
    // Too soon after a reading for another.
    assert.deepEqual(await storeOf(keeper).retry(TEAM, failed, AN_ACTOR), refused)
    await clock.advance(WORTH_READING_MS)
  })

  test('a retry that is refused reads anew, and is made', async () => {
    expect(await storeOf(keeper).retry(TEAM, failed, AN_ACTOR)).toMatchObject({ status: 'made' })
    await assertClean(stage.world)
  })

  test('a page of a bulk is not judged', async () => {
    const { engine } = stage.world
    const acts = createBulkActs(engine, keeper)
    const { id } = await stage.create('retry', [failed])
    await stage.drive(engine.shards.map(({ shard }) => createBulkShard(engine, shard, acts)))
    expect(await stage.store.get(TEAM, id)).toMatchObject({ state: 'done', done: 1, failed: 0 })
    await assertClean(stage.world)
  })
})
