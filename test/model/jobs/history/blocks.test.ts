import assert from 'node:assert/strict'
import { beforeEach, describe } from 'vitest'
import { inspect } from '../../../../src/redis/upkeep/inspection/inspect.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { BLOCK_BYTES } from '../../../../src/redis/jobs/history/blocks/block.ts'
import { QUEUE } from '../../../../src/redis/base/layout/fields.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { readShardUsage } from '../../../../src/redis/ledger/quotas/usage-reader.ts'
import { createTeamUsageReader } from '../../../../src/redis/ledger/quotas/team-usage.ts'
import { forgetChains, trimFinished } from '../../../../src/redis/jobs/history/finished-chains.ts'
import { createHistoryKeeper } from '../../../../src/redis/jobs/history/history-keeper.ts'
import { assertClean } from '../../../support/engine/model-executor.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { until } from '../../../support/until.ts'
import { HistoryStage, plans } from './history-stage.ts'

const DAY_MS = 86_400_000

describe('blocks of finished chains', () => {
  let redis: TestRedis
  let stage: HistoryStage

  test.beforeAll(({ emptyRedis }) => {
    redis = emptyRedis
  })
  beforeEach(async () => {
    stage = await HistoryStage.open(redis)
    return () => stage.world.close()
  })

  const sealed = () => redis.client.llen(stage.keys.queue('1').blocks)

  test('executors seal a block when a history has grown by one', async () => {
    stage.keepsHistories = true
    await stage.finish(plans(255))
    assert.equal(await sealed(), 0)
    await stage.finish(plans(2))
    await until('the first block is sealed', async () => (await sealed()) === 1)
    await assertClean(stage.world)
  })

  test('who found nothing to seal, as another had done it, seals the next block', async () => {
    await stage.finish(plans(1))
    // Without an executor, which would seal as well.
    await stage.write(255, () => ({}))
    await stage.seal()
    stage.keepsHistories = true
    const keeper = createHistoryKeeper(stage.world.engine, stage.keys)
    // Its last command, when there was nothing to seal and nothing to trim.
    const looks = async () => /cmdstat_hmget:calls=\d+/.exec(await redis.client.info('commandstats'))?.[0]
    const before = await looks()
    keeper.ask('1')
    await until('it has looked', async () => (await looks()) !== before)
    await stage.write(256, () => ({}))
    assert.equal(await sealed(), 1)
    keeper.ask('1')
    await until('the second block is sealed', async () => (await sealed()) === 2)
  })

  test('a block is sealed once, however many do it and however often it is sent', async () => {
    await stage.finish(plans(600))
    stage.keepsHistories = true
    await Promise.all([stage.seal(), stage.seal(), stage.seal()])
    assert.equal(await sealed(), 2)
    const sent = stage.world.sent.get('seal')
    assert.ok(sent)
    const again = await stage.world.engine.runner.run({ name: 'seal', keys: sent.keys, args: sent.args })
    assert.equal(again, 'moved')
    await assertClean(stage.world)
  })

  test('chains leave one by one when they are old, a block with its last one', async () => {
    await stage.finish(plans(200))
    stage.world.clock.advance(DAY_MS)
    await stage.beat()
    await stage.finish(plans(400))
    await stage.seal()
    assert.equal(await sealed(), 2)
    stage.world.clock.advance(6 * DAY_MS + 60_000)
    await stage.beat()
    const trim = () => trimFinished(stage.world.engine, stage.keys, '1')
    assert.equal(await trim(), 200)
    assert.equal(await sealed(), 2)
    await assertClean(stage.world)
    stage.world.clock.advance(DAY_MS)
    await stage.beat()
    assert.equal(await trim(), 400)
    assert.equal(await redis.client.exists(stage.keys.queue('1').blocks, stage.keys.sealedHistories), 0)
    await assertClean(stage.world)
  })

  test('what has left of a block is counted for that block, up to its last chain', async () => {
    await stage.finish(plans(512))
    await stage.seal()
    const { history, meta, summaries } = stage.keys.queue('1')
    const forgetOldest = async (count: number) => {
      const roots = await redis.client.lrange(history, -count, -1)
      const lengths = await Promise.all(roots.map((root) => redis.client.hstrlen(summaries, root)))
      assert.equal(await forgetChains(stage.world.engine, stage.keys, '1', roots), count)
      return lengths.reduce((sum, length) => sum + length, 0)
    }
    const departed = async () => Number(await redis.client.hget(meta, QUEUE.departed))
    await forgetOldest(256)
    assert.deepEqual([await sealed(), await departed()], [1, 0])
    const bytes = await forgetOldest(1)
    assert.deepEqual([await sealed(), await departed()], [1, bytes])
    await assertClean(stage.world)
  })

  test('a history that loses as much as it gains is sealed by the sweep', async () => {
    for (let day = 0; day < 12; day += 1) {
      await stage.finish(plans(50))
      stage.world.clock.advance(DAY_MS)
      await stage.beat()
      stage.keepsHistories = true
      const upkeep = createShardMaintenance(stage.world.engine, 0)
      while ((await upkeep.sweep()).isMore);
      stage.keepsHistories = false
    }
    // About 350 chains of 600 are left.
    assert.equal(await sealed(), 2)
    await assertClean(stage.world)
  })

  test('deleted chains leave tombstones, which go with the rest of their history', async () => {
    const ids = await stage.finish(plans(300, (at) => ({ ...(at % 50 === 0 ? { callBody: 10 } : {}) })))
    await stage.seal()
    await stage.bury([ids[0], ids[1], ids[100], ids[100], ids[299]].map(Number))
    await assertClean(stage.world)
    const { meta, summaries } = stage.keys.queue('1')
    assert.equal(await redis.client.hget(meta, 'd'), '4')
    assert.equal(await redis.client.hlen(summaries), 296)
    const expected = ids.filter((_, at) => ![0, 1, 100, 299].includes(at)).reverse()
    assert.deepEqual((await stage.search({ finalStatus: 'success' })).ids, expected)
    await stage.bury(ids)
    await assertClean(stage.world)
    stage.world.clock.advance(8 * DAY_MS)
    await stage.beat()
    const upkeep = createShardMaintenance(stage.world.engine, 0)
    while ((await upkeep.sweep()).isMore);
    assert.equal(await redis.client.hget(meta, 'd'), null)
    await assertClean(stage.world)
  })

  test('blocks beyond the kept ones do not count for the quota of their team, nor does a deleted queue for the budget', async () => {
    await stage.finish(plans(42 * 256))
    const { engine } = stage.world
    const held = async () => (await createTeamUsageReader(engine).read('default')).storedBytes
    const before = await held()
    await stage.seal()
    const after = await held()
    assert.ok(Math.abs(after / before - 40 / 42) < 0.01, `${after} of ${before} bytes count`)
    const { teams } = await readShardUsage(engine, stage.keys, ['default'], 0)
    assert.equal(teams.get('default')?.bytes, before)
    await createQueueStore(engine).remove('default', 'emails')
    await assertClean(stage.world)
    assert.equal(
      (await readShardUsage(engine, stage.keys, ['default'], 0)).teams.get('default')?.bytes,
      await held(),
    )
    assert.equal(await redis.client.hget(stage.keys.shardUsage, 'sealed'), '0')
  })

  test('the budget and the quota count deleted chains no more', { timeout: 60_000 }, async () => {
    const { engine } = stage.world
    const held = async () => {
      const { teams } = await readShardUsage(engine, stage.keys, ['default'], 0)
      const counted = teams.get('default')
      const budget = Number(await redis.client.hget(stage.keys.shardUsage, 'sealed'))
      return { stored: counted?.bytes ?? 0, counted: counted?.countedBytes ?? 0, budget }
    }
    const ids = await stage.finish(plans(50 * 256 + 20))
    await stage.seal()
    const before = await held()
    const each = before.stored / ids.length
    // Of the ten blocks that do not count, and of those that no block has.
    await stage.bury(ids.slice(0, 2_000))
    await stage.bury(ids.slice(-20))
    await assertClean(stage.world)
    const after = await held()
    assert.ok(Math.abs(before.budget - after.budget - 2_000 * each) < each, 'the budget')
    assert.ok(after.counted <= after.stored)
    const exempt = [before, after].map(({ stored, counted }) => stored - counted)
    assert.ok(
      Math.abs((exempt[0] ?? 0) - (exempt[1] ?? 0) - (2_000 * 10 * each) / 50) < 50 * each,
      'the quota',
    )
    // What was buried leaves with the blocks.
    const { keys } = stage
    for (let block = 0; block < 40; block += 1) {
      const roots = ids.slice(block * 256, block * 256 + 256).map(String)
      await forgetChains(engine, keys, '1', roots.toReversed())
    }
    await assertClean(stage.world)
    const ofTen = 10 * 256 * (each + 96)
    const { budget } = await held()
    assert.ok(budget <= ofTen && budget > ofTen - 500 * each, `${budget} of ${ofTen} bytes`)
    await stage.bury(ids.slice(2_000))
    await assertClean(stage.world)
    assert.ok((await held()).counted <= each)
    stage.world.clock.advance(8 * DAY_MS)
    await stage.beat()
    const upkeep = createShardMaintenance(engine, 0)
    await upkeep.sweep()
    await assertClean(stage.world)
    while ((await upkeep.sweep()).isMore);
    await assertClean(stage.world)
    assert.equal(await redis.client.hget(keys.shardUsage, 'sealed'), '0')
    assert.equal(await redis.client.hget(keys.queue('1').meta, 'b'), null)
  })

  describe('of very different sizes', () => {
    const LARGE = { url: `http://a.test/${'x'.repeat(1_500)}` }
    const HALF = 40 * 256

    /** A history of 80 blocks; answers their roots, the older half first, and the bytes of each. */
    async function sealedHalves(older: { url?: string }, newer: { url?: string }) {
      await stage.finish(plans(1))
      const { summaries, history } = stage.keys.queue('1')
      await stage.write(HALF - 1, () => older)
      await stage.write(HALF, () => newer)
      await stage.seal()
      const roots = (await redis.client.lrange(history, 0, -1)).map(Number).toReversed()
      const texts = await redis.client.hgetall(summaries)
      const sizes = new Map(roots.map((root) => [root, Buffer.byteLength(texts[root] ?? '')]))
      return { old: roots.slice(0, HALF), recent: roots.slice(HALF), sizes }
    }
    const sumOf = (roots: readonly number[], sizes: ReadonlyMap<number, number>) =>
      roots.reduce((sum, root) => sum + (sizes.get(root) ?? 0), 0)
    const exempt = async () => Number((await redis.client.hget(stage.keys.teamUsage, 'default:h')) ?? 0)
    const budget = async () => Number(await redis.client.hget(stage.keys.shardUsage, 'sealed'))

    test(
      'the newer ones deleted, no team is exempt from less than nothing',
      { timeout: 60_000 },
      async () => {
        const { old, recent, sizes } = await sealedHalves({}, LARGE)
        assert.equal(await exempt(), sumOf(old, sizes))
        await stage.bury(recent)
        const left = sumOf(old, sizes)
        assert.equal(await budget(), left + 80 * BLOCK_BYTES)
        assert.ok((await exempt()) >= 0 && (await exempt()) <= left, `${await exempt()} of ${left}`)
      },
    )

    test('the older ones deleted, the budget still counts the others', { timeout: 60_000 }, async () => {
      const { old, recent, sizes } = await sealedHalves(LARGE, {})
      const kept = old.filter((_, at) => at % 60 === 0)
      await stage.bury(old.filter((_, at) => at % 60 > 0))
      const left = sumOf([...kept, ...recent], sizes)
      assert.equal(await budget(), left + 80 * BLOCK_BYTES)
      assert.ok((await exempt()) >= 0 && (await exempt()) <= left, `${await exempt()} of ${left}`)
      // They leave with their blocks, a page of another size after another.
      for (let from = 0; from < HALF; from += 300) {
        const page = old.slice(from, from + 300).map(String)
        await forgetChains(stage.world.engine, stage.keys, '1', page.toReversed())
        const blocks = await sealed()
        const inBlocks = [...old, ...recent].slice(-blocks * 256)
        const isKept = new Set([...kept, ...recent])
        const bytes = sumOf(
          inBlocks.filter((root) => isKept.has(root)),
          sizes,
        )
        assert.equal(await budget(), bytes + blocks * BLOCK_BYTES, `${blocks} blocks`)
        const beyond = Number(await redis.client.hget(stage.keys.queue('1').meta, QUEUE.beyondKept))
        assert.equal(beyond, sumOf(inBlocks.slice(0, -HALF), sizes), `${blocks} blocks`)
      }
      assert.equal(await sealed(), 40)
      assert.equal(await exempt(), 0)
      assert.equal(Number(await redis.client.hget(stage.keys.queue('1').meta, QUEUE.buried)), 0)
    })
  })

  test('the inspection finds blocks that do not tell what they hold', async () => {
    await stage.finish(
      plans(512, (at) => (at === 300 ? { failureReason: 'timeout', url: 'http://b.test/' } : {})),
    )
    await stage.seal()
    const { blocks } = stage.keys.queue('1')
    const [newest = '', oldest = ''] = await redis.client.lrange(blocks, 0, -1)
    const [, ...plain] = JSON.parse(oldest) as unknown[]
    const lies = JSON.stringify([
      (JSON.parse(newest) as unknown[])[0],
      (JSON.parse(newest) as unknown[])[1],
      ...plain.slice(1),
    ])
    await redis.client.lset(blocks, 0, lies)
    const found = (await inspect(stage.world.engine)).map(({ message }) => message)
    assert.equal(found.length, 1)
    assert.match(found[0] ?? '', /^has the block 1, which does not cover the chain \d+$/)
    await redis.client.lset(blocks, 0, newest)
    await redis.client.hincrby(stage.keys.queue('1').meta, 'h', 1)
    assert.deepEqual(
      (await inspect(stage.world.engine))
        .map(({ message }) => message)
        .filter((message) => message.includes('other chains')),
      ['has blocks of other chains than the history'],
    )
  })
})
