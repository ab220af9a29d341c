import assert from 'node:assert/strict'
import { beforeEach, describe } from 'vitest'
import { emptyTally, type Tally } from '../../../../src/domain/statistics/tally.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import { readMinutes } from '../../../../src/redis/watch/statistics/statistics-reader.ts'
import { changeTallies, readVersion } from '../../../../src/redis/watch/statistics/tally-store.ts'
import { assertClean } from '../../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'

const WEEK_MINUTES = 7 * 1440
const OWNER = 'q1'
const PAGE = 500

/** What Redis keeps beside a key that expires and does not count as its memory: an entry and its bucket. */
const EXPIRY_BYTES = 40
const BYTES_PER_MINUTE_MAX = 60

describe('settled cells', () => {
  let redis: TestRedis
  let world: World

  test.beforeAll(({ emptyRedis }) => {
    redis = emptyRedis
  })
  beforeEach(async () => {
    world = await openWorld(redis, { shards: 1 })
    return () => world.close()
  })

  const keys = () => shardKeys(world.engine, 0)
  const key = () => keys().settledTallies(OWNER)
  const nowMinute = () => Math.floor(world.engine.runner.redisNowMs(0) / 60_000)

  async function settle(
    minutes: readonly number[],
    tally: Tally = { ...emptyTally(), done: 1 },
  ): Promise<void> {
    for (let i = 0; i < minutes.length; i += PAGE) {
      const version = await readVersion(world.engine, keys())
      const settled = minutes.slice(i, i + PAGE).map((minute) => ({ minute, owner: OWNER, tally }))
      assert.ok(await changeTallies(world.engine, keys(), { version, settled }))
    }
  }

  async function minutesSince(sinceMinute: number): Promise<Array<[minute: number, done: number]>> {
    const found = await readMinutes(world.engine, keys(), { owner: OWNER, sinceMs: sinceMinute * 60_000 })
    return Array.from(found, ([minute, { done }]): [number, number] => [minute, done]).toSorted(
      ([a], [b]) => a - b,
    )
  }

  function passDays(days: number): void {
    world.clock.advance(days * 86_400_000)
    world.engine.runner.noteRedisTime(0, world.clock.wallMs)
  }

  test('are read back to the minute asked for, also those that were settled late', async () => {
    const now = nowMinute()
    const minutes = Array.from({ length: 1_000 }, (_, i) => now - 1_000 + i)
    await settle([...minutes, now - 300, now - 700])
    for (const back of [1, 60, 299, 300, 301, 999, 5_000]) {
      const expected = minutes
        .filter((minute) => minute >= now - back)
        .map((minute) => [minute, minute === now - 300 || minute === now - 700 ? 2 : 1])
      assert.deepEqual(await minutesSince(now - back), expected, `${back} minutes`)
    }
    await assertClean(world)
  })

  test('are read on behind a page that begins with one that was settled late', async () => {
    const now = nowMinute()
    const minutes = Array.from({ length: 400 }, (_, i) => now - 400 + i)
    // A page is of 200 cells.
    await settle([...minutes.slice(0, 201), now - 280, ...minutes.slice(201)])
    const since = now - 260
    assert.deepEqual(
      await minutesSince(since),
      minutes.filter((minute) => minute >= since).map((minute) => [minute, 1]),
    )
  })

  test('a damaged one hides no other', async () => {
    const now = nowMinute()
    await settle([now - 3, now - 2, now - 1])
    await redis.client.lset(key(), 1, '!!')
    assert.deepEqual(await minutesSince(0), [
      [now - 3, 1],
      [now - 1, 1],
    ])
  })

  test('of minutes that are past give way to those that come, also of a queue that does little since', async () => {
    await settle(Array.from({ length: 2_000 }, (_, i) => nowMinute() - 2_000 + i))
    passDays(5)
    await settle([nowMinute()])
    assert.equal(await redis.client.llen(key()), 2_001)
    passDays(3)
    const late = Array.from({ length: 12 }, (_, i) => nowMinute() - 12 + i)
    await settle(late)
    assert.equal(await redis.client.llen(key()), 13)
    assert.equal((await minutesSince(0)).length, 13)
    assert.ok((await redis.client.ttl(key())) > 0)
    await assertClean(world)
  })

  test('stay within a bound when the clock was set back, and none of them is past', async () => {
    const ahead = nowMinute() + 1_000_000
    await settle(Array.from({ length: WEEK_MINUTES + 2_500 }, (_, i) => ahead + i))
    assert.equal(await redis.client.llen(key()), WEEK_MINUTES + 2_000)
  })

  test('take at most 60 bytes, also when a queue does something once in four hours', async () => {
    const histogram = [0, 3, 20, 41, 150, 390, 260, 90, 30, 9, 4, 2, 1]
    const tally = { ...emptyTally(), done: 990, retried: 10, latency: histogram, lateness: histogram }
    const minutes = Array.from({ length: 42 }, (_, i) => nowMinute() - WEEK_MINUTES + 240 * i + 1)
    await settle(minutes, tally)
    const bytes = Number(await redis.client.memory('USAGE', key(), 'SAMPLES', 0)) + EXPIRY_BYTES
    assert.ok(bytes / minutes.length <= BYTES_PER_MINUTE_MAX, `${bytes / minutes.length} bytes`)
  })
})
