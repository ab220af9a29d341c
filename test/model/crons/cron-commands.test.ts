import assert from 'node:assert/strict'
import { expect } from 'vitest'
import { cronScheduleOf } from '../../../src/domain/crons/cron.ts'
import { decideCron } from '../../../src/executor/crons/cron-decision.ts'
import { createCronStore } from '../../../src/redis/crons/cron-store.ts'
import { createCronSource } from '../../../src/redis/crons/tick/cron-source.ts'
import { cronSettings } from '../../support/engine/cron-settings.ts'
import { assertClean, claimed, ended, openExecutor } from '../../support/engine/model-executor.ts'
import { openWorld } from '../../support/engine/model-world.ts'
import { commandsDuring } from '../../support/servers/command-counts.ts'
import type { TestRedis } from '../../support/servers/redis-server.ts'
import { test } from '../../support/servers/shared-redis.ts'

const NOON_MS = Date.UTC(2032, 1, 28, 12)
const MINUTE_MS = 60_000

type Counts = Readonly<Record<string, number>>

let redis: TestRedis

test.beforeAll(({ emptyRedis }) => {
  redis = emptyRedis
})

/** What Redis is asked for the second run of so many crons without queues, by what it is asked for. */
async function commandsOf(crons: number): Promise<Readonly<Record<'tick' | 'claim' | 'finish', Counts>>> {
  const world = await openWorld(redis, { shards: 1, startMs: NOON_MS - 1_000 })
  const store = createCronStore(world.engine)
  for (let i = 0; i < crons; i += 1) await store.apply('default', `nightly-${i}`, cronSettings())
  const source = createCronSource(world.engine, 0)
  const executor = await openExecutor(world, 'e1')
  const run = async () => {
    await executor.beat(true)
    const decided = (await source.upcoming(0, world.clock.wallMs, crons)).map((cron) => {
      const schedule = cronScheduleOf(cron.settings)
      assert.ok(!('problem' in schedule))
      return decideCron(schedule, cron, world.clock.wallMs)
    })
    const prepared = await source.prepare(decided)
    const tick = await commandsDuring(redis.client, async () => {
      for (const ticks of prepared) assert.equal((await ticks.send()).started, crons)
    })
    let works: Awaited<ReturnType<typeof claimed>> = []
    const claim = await commandsDuring(redis.client, async () => {
      works = await claimed(executor, crons)
    })
    assert.equal(works.length, crons)
    const ends = works.map((work) => ended(world, work))
    const finish = await commandsDuring(redis.client, () => executor.finish(ends))
    return { tick, claim, finish }
  }
  world.clock.advance(1_000)
  await run()
  world.clock.advance(MINUTE_MS)
  const counts = await run()
  await assertClean(world)
  world.close()
  return counts
}

/** Commands that grow with the runs, for each run. */
function perRun(few: Counts, many: Counts, runs: number): Counts {
  const counts = Object.entries(many).map(
    ([name, count]) => [name, (count - (few[name] ?? 0)) / runs] as const,
  )
  return Object.fromEntries(counts.filter(([, count]) => count !== 0))
}

test('a run of a cron without a queue costs Redis these commands and no others', async () => {
  const [few, many] = [await commandsOf(16), await commandsOf(48)]
  expect(perRun(few.tick, many.tick, 32)).toEqual({ hmget: 1, hset: 1, lpush: 1, rpush: 1 })
  expect(perRun(few.claim, many.claim, 32)).toEqual({ hmget: 2, lrange: 1, zadd: 1 })
  expect(perRun(few.finish, many.finish, 32)).toEqual({
    hdel: 1,
    hmget: 1,
    hset: 1,
    lpos: 1,
    lpush: 1,
    lset: 1,
    zrem: 1,
  })
})
