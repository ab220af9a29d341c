import assert from 'node:assert/strict'
import { afterAll, describe } from 'vitest'
import { cronScheduleOf, type CronSettings } from '../../../src/domain/crons/cron.ts'
import { decideCron } from '../../../src/executor/crons/cron-decision.ts'
import { TickWriter } from '../../../src/executor/crons/tick-writer.ts'
import type { RedisConnection } from '../../../src/redis/base/client/connection.ts'
import { shardKeys } from '../../../src/redis/base/engine/engine.ts'
import { createCronStore } from '../../../src/redis/crons/cron-store.ts'
import { createCronSource } from '../../../src/redis/crons/tick/cron-source.ts'
import type { ShardKeys } from '../../../src/redis/base/layout/keys.ts'
import type { Scripts } from '../../../src/redis/steps.ts'
import { cronSettings } from '../../support/engine/cron-settings.ts'
import { assertClean, claimed, ended, openExecutor } from '../../support/engine/model-executor.ts'
import { openConnection, openWorld } from '../../support/engine/model-world.ts'
import { loadWrappedScripts } from '../../support/lua/wrapped-scripts.ts'
import type { TestRedis } from '../../support/servers/redis-server.ts'
import { test } from '../../support/servers/shared-redis.ts'

const MINUTE_MS = 60_000
const NOON_MS = Date.UTC(2032, 1, 28, 12)
/** In the order in which a step ticks them; the one in the middle is damaged. */
const TEAMS = ['a', 'b', 'bad', 'c', 'd'] as const
/** A second cron of each team runs through this queue. */
const QUEUE = 'q'

let redis: TestRedis
let connection: RedisConnection

test.beforeAll(async ({ emptyRedis }) => {
  redis = emptyRedis
  connection = await openConnection(redis.url)
})
afterAll(() => connection.disconnect())

/** A key of the bad team's cron, by its hidden queue or by the queue that it names. */
type KeyOf = (keys: ShardKeys, of: { readonly cron: string; readonly queue: string }) => string
const KEYS: ReadonlyArray<readonly [string, KeyOf]> = [
  ['the records of its runs', (keys, { cron }) => keys.cronRecords(cron)],
  ['the ready list of its queue', (keys, { queue }) => keys.queue(queue).ready],
  ['the jobs of its queue', (keys, { queue }) => keys.queue(queue).records],
  ['the head of its queue', (keys, { queue }) => keys.queue(queue).meta],
]

/** Ticks a cron of each team, once soundly and once beside a damaged one; answers how many runs each team got then. */
async function play(change: Partial<CronSettings>, keyOf: KeyOf, scripts?: Scripts) {
  const given = scripts === undefined ? {} : { scripts }
  const world = await openWorld(redis, { connection, shards: 1, startMs: NOON_MS + 10_000, ...given })
  const keys = shardKeys(world.engine, 0)
  const source = createCronSource(world.engine, 0)
  const writer = new TickWriter(source)
  const ids = new Map<string, number>()
  for (const team of TEAMS) {
    ids.set(team, (await createCronStore(world.engine).apply(team, 'c', cronSettings(change))).cronId)
  }
  const tick = async (): Promise<void> => {
    world.clock.advance(MINUTE_MS)
    const nowMs = source.redisNowMs()
    const decided = (await source.due(0)).map((cron) => {
      const schedule = cronScheduleOf(cron.settings)
      assert.ok(!('problem' in schedule))
      return decideCron(schedule, cron, nowMs)
    })
    for (const ticks of await writer.prepare(decided)) await writer.send(ticks)
  }
  const runsOf = async (executor: string): Promise<string[]> => {
    const session = await openExecutor(world, executor)
    const works = await claimed(session, 64)
    await session.finish(works.map((work) => ended(world, work)))
    await session.leave()
    return works.map(({ team }) => team).toSorted()
  }
  await tick()
  assert.deepEqual(await runsOf('e1'), [...TEAMS])
  const cron = String(ids.get('bad'))
  const queue = (await redis.client.hget(keys.queueIds, `bad/${QUEUE}`)) ?? cron
  const key = keyOf(keys, { cron, queue })
  await redis.client.copy(key, 'kept')
  await redis.client.del(key)
  await redis.client.set(key, 'damaged')
  await tick()
  assert.equal(await source.nextDueMs(), NOON_MS + 3 * MINUTE_MS)
  await redis.client.del(key)
  await redis.client.rename('kept', key).catch(() => undefined)
  return { world, runs: await runsOf('e2') }
}

const GOOD = TEAMS.filter((team) => team !== 'bad')

describe.each([
  ['its own queue', {}],
  ['a queue that it names', { queue: QUEUE }],
] as const)('a cron with a key of another type, through %s', (_, change) => {
  test.each(KEYS)('%s: the crons of other teams tick, once each', async (_what, keyOf) => {
    const { world, runs } = await play(change, keyOf)
    assert.deepEqual(runs, GOOD)
    await assertClean(world)
  })
})

describe('a bug in what a step takes back is found:', () => {
  test.each([
    { bug: 'jobs and runs stay in their lists', right: "call('LREM', list_key, count, value)", wrong: '' },
    { bug: 'records and index stay', right: "call('HDEL', hash_key, field)", wrong: '' },
    {
      bug: 'queues stay in the ring',
      right: "call('LLEN', ready) == 0 then call",
      wrong: 'false then call',
    },
  ])('$bug', async ({ right, wrong }) => {
    let isPlanted = false
    const scripts = loadWrappedScripts((source, name) => {
      if (name !== 'tick') return source
      isPlanted = source.includes(right)
      return source.replace(right, () => wrong)
    })
    assert.ok(isPlanted, 'the step has changed: plant the bug in its new text')
    const found: string[] = []
    for (const [key, keyOf] of KEYS) {
      const { world, runs } = await play({}, keyOf, scripts)
      if (runs.join() !== GOOD.join()) found.push(key)
      else await assertClean(world).catch(() => found.push(key))
    }
    assert.notDeepEqual(found, [])
  })
})
