import assert from 'node:assert/strict'
import { beforeEach, describe } from 'vitest'
import { readChains, readHistory } from '../../../../src/redis/jobs/history/history-reads.ts'
import { assertClean } from '../../../support/engine/model-executor.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { HistoryStage, plans } from './history-stage.ts'

describe('the search of finished chains', () => {
  let redis: TestRedis
  let stage: HistoryStage

  test.beforeAll(({ emptyRedis }) => {
    redis = emptyRedis
  })
  beforeEach(async () => {
    stage = await HistoryStage.open(redis)
    return () => stage.world.close()
  })

  /** 1,100 chains: four blocks, and a head that no block seals. */
  async function fill() {
    const made = plans(1_100, (at) => ({
      ...(at % 100 === 7 ? { failureReason: 'timeout' as const } : {}),
      ...(at % 100 === 8 ? { failureReason: 'http_server_error' as const, responseStatus: 503 } : {}),
      ...(at % 100 === 9 ? { responseStatus: 204 } : {}),
      url: at % 256 === 3 ? 'http://rare.test/x' : 'http://a.test/x',
      tags: { order: `o${at}`, ...(at === 300 ? { 'a "b"': 'é' } : {}) },
    }))
    const ids: number[] = []
    for (let at = 0; at < made.length; at += 100) {
      ids.push(...(await stage.finish(made.slice(at, at + 100))))
      stage.world.clock.advance(10_000)
      await stage.beat()
    }
    await stage.seal()
    const of = (test: (at: number) => boolean) => ids.filter((_, at) => test(at)).reverse()
    return { ids, of }
  }

  test('finds the same chains by blocks as without them, and looks at few', async () => {
    const { of, ids } = await fill()
    const [seventh] = of((at) => at === 700)
    assert.ok(seventh)
    const startMs = stage.world.clock.wallMs - 110_000
    const cases = [
      [{}, of(() => true), 1_100],
      [{ failureReason: 'timeout' }, of((at) => at % 100 === 7), 11 + 76],
      [{ responseStatus: 503 }, of((at) => at % 100 === 8), 11 + 76],
      [{ responseStatus: 204, finalStatus: 'success' }, of((at) => at % 100 === 9), 11 + 76],
      [{ finalStatus: 'failed_no_retries' }, of((at) => at % 100 === 7 || at % 100 === 8), 22 + 76],
      [{ status: 'completed' }, of((at) => at % 100 !== 7 && at % 100 !== 8), 1_100],
      [{ host: 'rare.test' }, of((at) => at % 256 === 3), 1_100],
      [{ tag: { name: 'order', value: 'o700' } }, [seventh], 256 + 76 + 256],
      [{ tag: { name: 'a "b"', value: 'é' } }, [ids[300]], 256 + 76 + 256],
      [{ tag: { name: 'order', value: 'none' } }, [], 76 + 256],
      [{ cronId: 5 }, [], 76],
      [
        { ended: { afterMs: startMs + 15_000, beforeMs: startMs + 25_000 } },
        of((at) => at >= 200 && at < 300),
        76 + 512,
      ],
      [{ created: { afterMs: null, beforeMs: startMs + 5_000 } }, of((at) => at < 100), 76 + 256],
      [{ text: 'RARE.test' }, of((at) => at % 256 === 3), 1_100],
      [{ status: 'pending' }, [], 0],
    ] as const
    for (const [filter, expected, searchedMax] of cases) {
      const what = JSON.stringify(filter)
      const found = await stage.search(filter)
      assert.deepEqual(found.ids, expected, what)
      assert.ok(found.searched <= searchedMax, `${what} looked at ${found.searched}`)
      assert.deepEqual(
        (await stage.search(filter, { limit: 7, examinedMax: 50 })).ids,
        expected,
        `${what} in pages`,
      )
    }
    await assertClean(stage.world)
    await redis.client.del(stage.keys.queue('1').blocks)
    for (const [filter, expected] of cases)
      assert.deepEqual((await stage.search(filter)).ids, expected, `${JSON.stringify(filter)} without blocks`)
  })

  test('finds a host however its URL writes it', async () => {
    const spellings = [
      'http://a.test/',
      'http://A.Test/',
      'http://%61.test/',
      'http://ａ.test/',
      'http://b.test/',
    ]
    const ids = await stage.finish(
      plans(520, (at) => ({ url: at < 256 ? 'http://a.test/' : (spellings[at % 5] as string) })),
    )
    await stage.seal()
    const expected = ids.filter((_, at) => at < 256 || at % 5 < 4).reverse()
    assert.deepEqual((await stage.search({ host: 'a.test' })).ids, expected)
  })

  test('goes on where one step has found or tested enough', async () => {
    await stage.finish(plans(1))
    const roots = await stage.write(70 * 256, (at) => ({
      tags: { half: at % 2 === 0 ? 'a' : 'b', at: String(at), place: String(at % 256) },
    }))
    await stage.seal()
    const [newest] = await redis.client.lrange(stage.keys.queue('1').history, 0, 0)
    assert.equal(newest, String(roots.at(-1)))
    const half = roots.filter((_, at) => at % 2 === 0).reverse()
    const found = await stage.search(
      { tag: { name: 'half', value: 'a' } },
      { limit: 100, examinedMax: 2_500 },
    )
    assert.deepEqual(found.ids, half)
    const inEach = await stage.search({ tag: { name: 'place', value: '9' } })
    assert.deepEqual(inEach.ids, roots.filter((_, at) => at % 256 === 9).reverse())
    const { ids, searched } = await stage.search({ tag: { name: 'at', value: '300' } })
    assert.deepEqual(ids, [roots[300]])
    assert.ok(searched <= 4 * 256, `${searched} were looked at`)
  })

  test('a step reads large summaries by their bytes, not by their number', async () => {
    await stage.finish(plans(1))
    const large = 'x'.repeat(30_000)
    const roots = await stage.write(600, (at) => ({ tags: { at: String(at % 10), large } }))
    const owner = await stage.queue()
    const span = { from: 1, to: 257, picks: null, isTested: false }
    const asked = { spans: [span], wanted: 1, needles: [] }
    const look = await readHistory(stage.world.engine, owner, asked)
    assert.ok(look.bytes < 800_000, `${look.bytes} bytes`)
    assert.equal(look.stoppedAt, 257 - look.entries.length)
    const tested = { ...asked, spans: [{ ...span, isTested: true }], needles: ['"at":"none"'] }
    const none = await readHistory(stage.world.engine, owner, tested)
    assert.deepEqual([none.entries.length, none.looked, none.bytes], [0, look.looked, look.bytes])
    const { entries } = await readChains(stage.world.engine, owner, { from: 1, to: 257 })
    assert.deepEqual(
      entries.map(({ root }) => Number(root)),
      roots.slice(0, 256).reverse(),
    )
    await stage.seal()
    const of3 = roots.filter((_, at) => at % 10 === 3).reverse()
    assert.deepEqual((await stage.search({ tag: { name: 'at', value: '3' } })).ids, of3)
    assert.deepEqual((await stage.search({ text: '"at":"3"' })).ids, [])
  })

  test('a text is also looked for in payloads that call records keep', async () => {
    const [, kept] = await stage.finish([{ callBody: 3 }, { callBody: 9 }, {}])
    assert.deepEqual((await stage.search({ text: 'é'.repeat(5) })).ids, [kept])
  })

  test('a block that cannot be read hides none of its chains', async () => {
    const { of } = await fill()
    const { blocks } = stage.keys.queue('1')
    const text = (await redis.client.lindex(blocks, 1)) as string
    await redis.client.lset(blocks, 1, text.slice(0, 20))
    assert.deepEqual(
      (await stage.search({ failureReason: 'timeout' })).ids,
      of((at) => at % 100 === 7),
    )
  })

  test('a history that lost chains behind the back of its blocks is searched without them', async () => {
    const { ids } = await fill()
    const { history, summaries, blocks } = stage.keys.queue('1')
    const gone = ids.slice(0, 300)
    await redis.client.ltrim(history, 0, -301)
    await redis.client.hdel(summaries, ...gone.map(String))
    const expected = ids.filter((_, at) => at >= 300 && at % 100 === 7).reverse()
    assert.deepEqual((await stage.search({ failureReason: 'timeout' })).ids, expected)
    await stage.seal()
    assert.equal(await redis.client.llen(blocks), 3)
    assert.deepEqual((await stage.search({ failureReason: 'timeout' })).ids, expected)
  })
})
