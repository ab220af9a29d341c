import assert from 'node:assert/strict'
import { afterAll, beforeEach, describe } from 'vitest'
import type { JobIntake, JobStore } from '../../../../src/ports/jobs.ts'
import type { RedisConnection } from '../../../../src/redis/base/client/connection.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import { decodeRecord } from '../../../../src/redis/base/layout/job-record.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { assertClean, claimed, ended, openExecutor, pushOne } from '../../../support/engine/model-executor.ts'
import { openConnection, openWorld, type World } from '../../../support/engine/model-world.ts'
import { AN_ACTOR } from '../../../support/principals.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'

const TEAM = 'default'

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

const cancel = (id: number, team = TEAM) => store.cancel(team, id, AN_ACTOR)
const pushed = (delaySeconds = 0, queue = 'emails') => pushOne(intake, { queue, start: { delaySeconds } })

async function claimOne(name: string) {
  const source = await openExecutor(world, name)
  const [work] = await claimed(source, 1)
  assert.ok(work?.kind === 'job')
  return { source, work }
}

describe('a job that is cancelled', () => {
  test.each([0, 30, 500])('and was never sent never will be (due in %d s)', async (delaySeconds) => {
    const id = await pushed(delaySeconds)
    const end = await cancel(id)
    assert.ok(end.status === 'cancelled')
    assert.equal(end.chain.rootId, id)
    assert.equal(end.chain.open?.status, 'pending')
    assert.equal(await store.get(TEAM, id), null)
    assert.deepEqual(await cancel(id), { status: 'not_found' })
    world.clock.advance(1_000_000)
    await createShardMaintenance(world.engine, 0).promote()
    assert.deepEqual(await claimed(await openExecutor(world, 'e'), 10), [])
    await assertClean(world)
  })

  test('is audited as such, once', async () => {
    const id = await pushed()
    await cancel(id)
    await cancel(id)
    const log = await redis.client.xrange(shardKeys(world.engine, 0).deedLog(TEAM), '-', '+')
    assert.equal(log.length, 1)
    assert.ok(JSON.stringify(log).includes('cancel'))
  })

  test('is refused in flight, when it has ended, and to another team', async () => {
    const id = await pushed()
    assert.deepEqual(await cancel(id, 'other'), { status: 'not_found' })
    const { source, work } = await claimOne('e')
    assert.deepEqual(await cancel(id), { status: 'in_flight' })
    await source.finish([ended(world, work)])
    assert.deepEqual(await cancel(id), { status: 'ended' })
    assert.notEqual(await store.get(TEAM, id), null)
  })

  test('is refused while it waits for a retry, by either id', async () => {
    const id = await pushed()
    const { source, work } = await claimOne('e')
    await source.finish([ended(world, work, { failed: true })])
    const retry = world.engine.jobIds.idOf(0, world.engine.jobIds.seqOf(id), 2)
    assert.deepEqual(await cancel(id), { status: 'not_ended', jobId: retry })
    assert.deepEqual(await cancel(retry), { status: 'sent' })
    assert.deepEqual(await store.remove(TEAM, retry, AN_ACTOR, false), { status: 'removed' })
    await assertClean(world)
  })

  test.each([0, 30])(
    'goes when its claim was given back before the call began (due in %d s)',
    async (delay) => {
      const id = await pushed(delay)
      world.clock.advance(delay * 1_000 + 1)
      await createShardMaintenance(world.engine, 0).promote()
      const { source, work } = await claimOne('e')
      await source.finish([{ type: 'released', work }])
      assert.equal((await cancel(id)).status, 'cancelled')
      await assertClean(world)
    },
  )

  test.each([0, 30])('stays when its call was cut short (due in %d s)', async (delaySeconds) => {
    const id = await pushed(delaySeconds)
    world.clock.advance(delaySeconds * 1_000 + 1)
    await createShardMaintenance(world.engine, 0).promote()
    const { records } = shardKeys(world.engine, 0).queue('1')
    const before = decodeRecord((await redis.client.hget(records, String(id))) ?? '', null)
    // More than once: the note stands once.
    for (const name of ['a', 'b']) {
      const { source, work } = await claimOne(name)
      await source.finish([{ type: 'released', work, isCut: true }])
      assert.deepEqual(await cancel(id), { status: 'sent' })
      await assertClean(world)
    }
    const noted = (await redis.client.hget(records, String(id))) ?? ''
    const { inlinePart: _part, ...facts } = decodeRecord(noted, null)
    const { inlinePart: _before, ...expected } = before
    assert.deepEqual(facts, expected)
    const { source, work } = await claimOne('c')
    assert.equal(work.attempt, 1)
    await source.finish([ended(world, work)])
    assert.equal((await store.get(TEAM, id))?.end, 'success')
    await assertClean(world)
  })

  test('stays when its executor left in the middle of its call', async () => {
    const id = await pushed()
    const { source } = await claimOne('e')
    await source.leave()
    assert.deepEqual(await cancel(id), { status: 'sent' })
    await assertClean(world)
  })

  test('stays when its executor was lost', async () => {
    const id = await pushed()
    await claimOne('e')
    const upkeep = createShardMaintenance(world.engine, 0)
    for (let i = 0; i < 2; i += 1) {
      world.clock.advance(9_000)
      await upkeep.promote()
    }
    await upkeep.reap()
    assert.deepEqual(await cancel(id), { status: 'sent' })
    await assertClean(world)
  })

  test('stays when its record is damaged', async () => {
    const id = await pushed(30)
    const { records } = shardKeys(world.engine, 0).queue('1')
    await redis.client.hset(records, String(id), 'no record')
    assert.deepEqual(await cancel(id), { status: 'damaged' })
  })
})
