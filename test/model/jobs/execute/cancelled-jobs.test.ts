import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import { QUEUE } from '../../../../src/redis/base/layout/fields.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { assertClean, claimed, openExecutor } from '../../../support/engine/model-executor.ts'
import { AN_ACTOR } from '../../../support/principals.ts'
import { BulkStage, TEAM } from '../bulk/bulk-stage.ts'
import { commandsOf, finish, keys, push, redis, teamsOf, useTeamClaims, world } from './team-claims-scene.ts'

/** What the Lua step skips of one queue and beyond that in all, as the operator may rely on. */
const [SKIPPED_OF_EACH, SKIPPED_BEYOND] = [32, 1_024]

async function cancel(team: string, ids: readonly number[]): Promise<void> {
  const store = createJobStore(world.engine)
  for (const id of ids) assert.equal((await store.remove(team, id, AN_ACTOR, false)).status, 'removed')
}

const cancelledOf = async (localId: string) =>
  Number(await redis.client.hget(keys.queue(localId).meta, QUEUE.cancelledReady))
const listedOf = (localId: string) => redis.client.llen(keys.queue(localId).ready)

/** Ids at the head of a ready list, of jobs that were cancelled between two that are ready. */
async function cancelAtHead(localId: string, count: number): Promise<void> {
  const { ready, meta } = keys.queue(localId)
  for (let from = 0; from < count; from += 10_000) {
    const page = Array.from({ length: Math.min(10_000, count - from) }, (_, i) => 10_000_000 + from + i)
    await redis.client.lpush(ready, ...page)
  }
  await redis.client.hincrby(meta, QUEUE.cancelledReady, count)
}

describe('a claim and ids of cancelled jobs', () => {
  useTeamClaims()

  test('passes over them and counts them off', async () => {
    const ids = await push('some', 6)
    await cancel('some', ids.slice(1, 4))
    assert.equal(await cancelledOf('1'), 3)
    await assertClean(world)
    const source = await openExecutor(world, 'e1')
    const works = await claimed(source, 2)
    assert.deepEqual(
      works.map((work) => work.jobId),
      [ids[0], ids[4]],
    )
    assert.equal(await cancelledOf('1'), 0)
    await assertClean(world)
  })

  test('100,000 of one team take nothing from another, and are behind it after a hundred claims', async () => {
    const own = await push('wasteful', 5)
    await cancelAtHead('1', 100_000)
    await push('other', 64 * 3)
    await assertClean(world)
    const source = await openExecutor(world, 'e1')
    for (let i = 0; i < 3; i += 1) {
      const works = await claimed(source, 64)
      assert.deepEqual(teamsOf(works), { other: 64 })
      await finish(source, works)
    }
    const found: number[] = []
    let claims = 3
    for (; claims < 200 && found.length === 0; claims += 1) {
      const commands = await commandsOf(async () => {
        found.push(...(await claimed(source, 64)).map(({ jobId }) => jobId))
      })
      assert.ok(commands < 400, `${commands} commands`)
    }
    assert.deepEqual(found, own)
    assert.ok(claims <= Math.ceil(100_000 / (SKIPPED_OF_EACH + SKIPPED_BEYOND)) + 1, `${claims} claims`)
    await assertClean(world)
  })

  test('in every queue of one team leave another its batch, and its own few cancelled ones', async () => {
    for (let i = 0; i < 40; i += 1) await push('wasteful', 1, `queue ${i}`)
    for (let i = 1; i <= 40; i += 1) await cancelAtHead(String(i), 5_000)
    await push('other', 64)
    await cancelAtHead('41', SKIPPED_OF_EACH)
    const source = await openExecutor(world, 'e1')
    let works: Awaited<ReturnType<typeof claimed>> = []
    const commands = await commandsOf(async () => {
      works = await claimed(source, 64)
    })
    assert.deepEqual(teamsOf(works), { other: 64 })
    const left = (await Promise.all(Array.from({ length: 40 }, (_, i) => cancelledOf(String(i + 1))))).reduce(
      (sum, count) => sum + count,
    )
    const skipped = 40 * 5_000 - left
    assert.ok(skipped <= 40 * SKIPPED_OF_EACH + SKIPPED_BEYOND, `${skipped} skipped`)
    assert.ok(commands < 1_500, `${commands} commands`)
    await assertClean(world)
  })

  test('cost the virtual time of a job for 32 of them, so that their queue does not stay at the head', async () => {
    await push('wasteful', 1)
    await cancelAtHead('1', 5_000)
    await push('wasteful', 40, 'two')
    const [before, queueBefore] = [
      await redis.client.zscore(keys.teams, '1'),
      await redis.client.zscore(keys.ring, '1'),
    ]
    const source = await openExecutor(world, 'e1')
    assert.equal((await claimed(source, 8)).length, 8)
    const [after, queueAfter] = [
      await redis.client.zscore(keys.teams, '1'),
      await redis.client.zscore(keys.ring, '1'),
    ]
    const cost = (SKIPPED_OF_EACH + SKIPPED_BEYOND) / 32
    assert.equal(Number(queueAfter) - Number(queueBefore), cost)
    assert.equal(Number(after) - Number(before), cost + 8)
  })

  test('are cut off one claim after another, and their queue leaves the ring with the last', async () => {
    await push('wasteful', 1)
    await cancelAtHead('1', 3_000)
    const source = await openExecutor(world, 'e1')
    assert.deepEqual(await claimed(source, 64), [])
    assert.deepEqual(await claimed(source, 64), [])
    assert.deepEqual((await claimed(source, 64)).length, 1)
    assert.equal(await listedOf('1'), 0)
    assert.equal(await cancelledOf('1'), 0)
    await assertClean(world)
    await push('wasteful', 1)
    assert.equal((await claimed(source, 64)).length, 1)
  })

  test('that were counted wrongly are counted rightly once the list is empty, and never below zero', async () => {
    const ids = await push('some', 4)
    await cancel('some', ids.slice(1, 2))
    await redis.client.hset(keys.queue('1').meta, QUEUE.cancelledReady, 0)
    const source = await openExecutor(world, 'e1')
    assert.equal((await claimed(source, 2)).length, 2)
    assert.equal(await cancelledOf('1'), 0)
    await redis.client.hset(keys.queue('1').meta, QUEUE.cancelledReady, 7)
    assert.equal((await claimed(source, 2)).length, 1)
    assert.equal(await cancelledOf('1'), 0)
    await assertClean(world)
  })
})

describe('a cancel', () => {
  useTeamClaims()

  test('takes ids off both ends of the ready list, and keeps the order of the rest', async () => {
    const ids = await push('some', 10)
    await cancel(
      'some',
      [3, 1, 8, 5].map((i) => ids[i] as number),
    )
    assert.equal(await listedOf('1'), 10)
    await cancel('some', [ids[0] as number])
    assert.equal(await listedOf('1'), 8)
    await cancel('some', [ids[9] as number])
    assert.equal(await listedOf('1'), 6)
    assert.equal(await cancelledOf('1'), 2)
    await assertClean(world)
    const source = await openExecutor(world, 'e1')
    const works = await claimed(source, 64)
    assert.deepEqual(
      works.map((work) => work.jobId),
      [2, 4, 6, 7].map((i) => ids[i]),
    )
    await assertClean(world)
  })

  test('takes 500 ids off an end at most, and all when no job is left', async () => {
    const [first, second] = await push('some', 2)
    await cancelAtHead('1', 1_200)
    await cancel('some', [second as number])
    assert.equal(await listedOf('1'), 1_202 - 500 - 1)
    assert.equal(await cancelledOf('1'), 700)
    await assertClean(world)
    const source = await openExecutor(world, 'e1')
    assert.equal(await redis.client.zcard(keys.ring), 1)
    await cancel('some', [first as number])
    assert.equal(await listedOf('1'), 0)
    assert.equal(await cancelledOf('1'), 0)
    await assertClean(world)
    const [next] = await push('some', 1)
    assert.deepEqual(
      (await claimed(source, 64)).map(({ jobId }) => jobId),
      [next],
    )
  })

  test('of a bulk looks at 1,000 ids in all, however many queues its page has', async () => {
    const queues = Array.from({ length: 40 }, (_, i) => i)
    const last: number[] = []
    for (const i of queues) {
      const [, second] = await push(TEAM, 2, `queue ${i}`)
      last.push(second as number)
      await cancelAtHead(String(i + 1), 1_000)
    }
    const stage = new BulkStage(world)
    await stage.create('cancel', last)
    await stage.begin()
    let pages = 0
    world.faults.after = ({ name }) => void (pages += name === 'open_page' ? 1 : 0)
    const commands = await commandsOf(() => stage.drive())
    assert.equal(pages, 1)
    assert.ok(commands < 3_000, `${commands} commands`)
    const left = await Promise.all(queues.map((i) => cancelledOf(String(i + 1))))
    const trimmed = 40 * 1_001 - left.reduce((sum, count) => sum + count)
    assert.ok(trimmed > 900 && trimmed <= 1_000, `${trimmed} taken off`)
    await assertClean(world)
    const source = await openExecutor(world, 'e1')
    const found: number[] = []
    for (let i = 0; i < 60; i += 1) found.push(...(await claimed(source, 64)).map(({ jobId }) => jobId))
    assert.equal(found.length, 40)
    assert.ok(found.every((id) => !last.includes(id)))
    await assertClean(world)
  })

  test('leaves the ring with the last ready job, beside one in flight', async () => {
    await createQueueStore(world.engine).apply('some', 'one', {
      ...DEFAULT_QUEUE_SETTINGS,
      maxParallelism: 3,
    })
    const ids = await push('some', 3)
    const source = await openExecutor(world, 'e1')
    assert.equal((await claimed(source, 1)).length, 1)
    assert.equal(await redis.client.zcard(keys.ring), 1)
    await cancel('some', ids.slice(1))
    assert.equal(await redis.client.zcard(keys.ring), 0)
    await assertClean(world)
    await push('some', 1)
    assert.equal((await claimed(source, 64)).length, 1)
    await assertClean(world)
  })
})
