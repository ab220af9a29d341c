import assert from 'node:assert/strict'
import { describe } from 'vitest'
import { keepBudget } from '../../../../src/redis/jobs/history/history-budget.ts'
import { readShardUsage } from '../../../../src/redis/ledger/quotas/usage-reader.ts'
import { assertClean } from '../../../support/engine/model-executor.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { HistoryStage, plans } from './history-stage.ts'

/** Of a block of the plain chains of these tests: 256 × (96 + their summaries). */
const BLOCK_BYTES_ABOUT = 256 * 170
const KEPT = 300

describe('the budget of finished chains', () => {
  let redis: TestRedis

  test.beforeAll(({ emptyRedis }) => {
    redis = emptyRedis
  })

  async function withStage(
    historyBytes: number | null,
    run: (stage: HistoryStage) => Promise<void>,
    finishedChainsKept = KEPT,
  ) {
    const stage = await HistoryStage.open(redis, { historyBytes, finishedChainsKept })
    try {
      await run(stage)
      await assertClean(stage.world)
    } finally {
      stage.world.close()
    }
  }

  const lengthOf = (stage: HistoryStage, localId: string) =>
    redis.client.llen(stage.keys.queue(localId).history)

  /** Ends chains and lets them become old enough to go. */
  async function fill(stage: HistoryStage, place: { team: string; queue: string }, count: number) {
    await stage.finish(plans(count), place)
    stage.world.clock.advance(31_000)
    await stage.beat()
  }
  const enforce = async ({ world: { engine }, keys }: HistoryStage) => {
    while (await keepBudget(engine, keys));
  }

  test('of two neighbours who fight over it, the one that holds more loses, in whole blocks', () =>
    withStage(12 * BLOCK_BYTES_ABOUT, async (stage) => {
      await fill(stage, { team: 'modest', queue: 'one' }, 4 * 256)
      for (const localId of ['1']) await stage.seal(localId)
      for (let round = 0; round < 4; round += 1) {
        await fill(stage, { team: 'greedy', queue: 'a' }, 4 * 256)
        await fill(stage, { team: 'greedy', queue: 'b' }, 2 * 256)
        for (const localId of ['2', '3']) await stage.seal(localId)
        await enforce(stage)
      }
      const lengths = await Promise.all(['1', '2', '3'].map((id) => lengthOf(stage, id)))
      assert.equal(lengths[0], 4 * 256, 'the modest neighbour keeps all it has')
      const all = lengths.reduce((sum, length) => sum + length, 0)
      assert.ok(all <= 13 * 256 && all >= 10 * 256, `${all} chains are kept`)
      assert.ok(Math.abs((lengths[1] ?? 0) - (lengths[2] ?? 0)) <= 256, `largest first: ${lengths.join()}`)
      assert.ok(lengths.every((length) => length % 256 === 0))
      await fill(stage, { team: 'modest', queue: 'one' }, 8 * 256)
      await stage.seal('1')
      await enforce(stage)
      const [modest = 0, a = 0, b = 0] = await Promise.all(['1', '2', '3'].map((id) => lengthOf(stage, id)))
      assert.ok(Math.abs(modest - (a + b)) <= 512, `equal shares in the end: ${modest} and ${a} + ${b}`)
    }))

  test('each queue keeps its newest chains, whatever the budget is', () =>
    withStage(0, async (stage) => {
      await fill(stage, { team: 'default', queue: 'one' }, 5 * 256)
      await fill(stage, { team: 'default', queue: 'two' }, 256 + 10)
      for (const localId of ['1', '2']) await stage.seal(localId)
      await enforce(stage)
      // One block less would be fewer than 300.
      assert.deepEqual([await lengthOf(stage, '1'), await lengthOf(stage, '2')], [2 * 256, 256 + 10])
    }))

  test('what ended a moment ago stays: a push that is sent again must find it', () =>
    withStage(0, async (stage) => {
      await stage.finish(plans(4 * 256))
      await stage.seal()
      await enforce(stage)
      assert.equal(await lengthOf(stage, '1'), 4 * 256)
    }))

  test('it is a quarter of maxmemory, and less when jobs need the memory', () =>
    withStage(null, async (stage) => {
      await fill(stage, { team: 'default', queue: 'one' }, 8 * 256)
      await stage.seal()
      const used = Number(/used_memory:(\d+)/.exec(await redis.client.info('memory'))?.[1])
      const limit = (bytes: number) => redis.client.config('SET', 'maxmemory', String(Math.round(bytes)))
      try {
        await limit(used * 10)
        await enforce(stage)
        assert.equal(await lengthOf(stage, '1'), 8 * 256)
        await limit(used / 0.85 - 3 * BLOCK_BYTES_ABOUT)
        await keepBudget(stage.world.engine, stage.keys)
        assert.ok((await lengthOf(stage, '1')) < 8 * 256)
      } finally {
        await limit(0)
      }
    }))

  test('histories that may lose nothing do not keep it from the others, however many and large', () =>
    withStage(0, async (stage) => {
      const { keys } = stage
      await fill(stage, { team: 'crowd', queue: 'one' }, 512)
      await fill(stage, { team: 'modest', queue: 'one' }, 4 * 256)
      for (const localId of ['1', '2']) await stage.seal(localId)
      const weight = Number(await redis.client.zscore(keys.sealedHistories, 'modest/2'))
      const [one, copies] = [keys.queue('1'), Array.from({ length: 2_100 }, (_, at) => String(at + 100))]
      for (const id of copies) {
        const copy = keys.queue(id)
        await Promise.all([
          ...(['meta', 'history', 'blocks'] as const).map((part) => redis.client.copy(one[part], copy[part])),
          redis.client.zadd(keys.sealedHistories, weight * 10, `crowd/${id}`),
        ])
      }
      const answers = [await keepBudget(stage.world.engine, keys), await keepBudget(stage.world.engine, keys)]
      assert.equal(await lengthOf(stage, '2'), 2 * 256)
      assert.equal(await lengthOf(stage, '1'), 2 * 256)
      assert.equal(answers[1], false, 'nothing is left that may go')
      await redis.client.flushall()
    }))

  test('histories that are too young to go do not, either', () =>
    withStage(0, async (stage) => {
      const { keys } = stage
      await fill(stage, { team: 'modest', queue: 'one' }, 4 * 256)
      await stage.finish(plans(3 * 256), { team: 'crowd', queue: 'one' })
      for (const localId of ['1', '2']) await stage.seal(localId)
      const weight = Number(await redis.client.zscore(keys.sealedHistories, 'modest/1'))
      const two = keys.queue('2')
      for (let id = 100; id < 1_100; id += 1) {
        const copy = keys.queue(String(id))
        await Promise.all([
          ...(['meta', 'history', 'blocks'] as const).map((part) => redis.client.copy(two[part], copy[part])),
          redis.client.copy(two.summaries, copy.summaries),
          redis.client.zadd(keys.sealedHistories, weight * 10, `crowd/${id}`),
        ])
      }
      await enforce(stage)
      assert.equal(await lengthOf(stage, '1'), 2 * 256)
      assert.equal(await lengthOf(stage, '2'), 3 * 256)
      await redis.client.flushall()
    }))

  test('what it may not drop counts for the quota of its team, the rest does not', { timeout: 60_000 }, () =>
    withStage(
      0,
      async (stage) => {
        const { keys, world } = stage
        const counted = async () => {
          const { teams } = await readShardUsage(world.engine, keys, ['default'], 0)
          return teams.get('default')?.countedBytes
        }
        /** Of the newest chains, as they are stored. */
        const bytesOf = async (chains: number) => {
          const roots = await redis.client.lrange(keys.queue('1').history, 0, chains - 1)
          const texts = await redis.client.hmget(keys.queue('1').summaries, ...roots)
          return texts.reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), 0)
        }
        await fill(stage, { team: 'default', queue: 'one' }, 40 * 256)
        await stage.seal()
        assert.equal(await counted(), await bytesOf(40 * 256), 'all may stay, so all counts')
        await fill(stage, { team: 'default', queue: 'one' }, 2 * 256)
        await stage.seal()
        assert.equal(await counted(), await bytesOf(40 * 256), 'two blocks may go')
        await assertClean(world)
        await enforce(stage)
        assert.equal(await lengthOf(stage, '1'), 40 * 256)
        assert.equal(await counted(), await bytesOf(40 * 256))
      },
      10_000,
    ),
  )
})
