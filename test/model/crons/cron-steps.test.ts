import assert from 'node:assert/strict'
import { createSecretKey, randomBytes } from 'node:crypto'
import { afterAll, beforeEach, describe } from 'vitest'
import { CRON_RECORDS_MAX, LOST_LEASES_MAX } from '../../../src/domain/limits.ts'
import type { DueCron } from '../../../src/ports/crons.ts'
import type { SettingsCompiler } from '../../../src/ports/settings.ts'
import type { RedisConnection } from '../../../src/redis/base/client/connection.ts'
import { inspect } from '../../../src/redis/upkeep/inspection/inspect.ts'
import { createLeaderEpochs } from '../../../src/redis/control/leader-epochs.ts'
import { shardKeys } from '../../../src/redis/base/engine/engine.ts'
import type { StepName } from '../../../src/redis/steps.ts'
import { decodeState } from '../../../src/redis/base/layout/cron-record.ts'
import { RETIRE_CRON } from '../../../src/redis/crons/write/cron-steps.ts'
import { SecretBox } from '../../../src/redis/base/secret-box.ts'
import { createShardMaintenance } from '../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { claimed, ended, openExecutor } from '../../support/engine/model-executor.ts'
import { openConnection, openWorld } from '../../support/engine/model-world.ts'
import type { TestRedis } from '../../support/servers/redis-server.ts'
import { test } from '../../support/servers/shared-redis.ts'
import { CronStage, NAME, TEAM } from './cron-stage.ts'

const MINUTE_MS = 60_000
const NOON_MS = Date.UTC(2032, 1, 28, 12)
const BOX = new SecretBox(createSecretKey(randomBytes(32)))

let redis: TestRedis
let connection: RedisConnection
let stage: CronStage

test.beforeAll(async ({ emptyRedis }) => {
  redis = emptyRedis
  connection = await openConnection(redis.url)
})
afterAll(() => connection.disconnect())
beforeEach(async () => {
  stage = new CronStage(await openWorld(redis, { connection, shards: 3, startMs: NOON_MS - 10_000 }))
  await stage.openExecutors()
})

async function dump(): Promise<Record<string, string | null>> {
  const held: Record<string, string | null> = {}
  for (const key of (await redis.client.keys('*')).toSorted()) held[key] = await redis.client.dump(key)
  return held
}

describe('a former leader', () => {
  type Write = (compiler: SettingsCompiler) => Promise<{ readonly status: string }>
  const applyTo =
    (place: Parameters<CronStage['settings']>[0]): Write =>
    (compiler) =>
      compiler.applyCron(TEAM, NAME, stage.settings(place))
  const remove: Write = (compiler) => compiler.removeCron(TEAM, NAME)

  test.each<readonly [StepName, number, string, Write | null, Write]>([
    ['reserve_cron', 1, 'makes a cron', null, applyTo('home')],
    ['set_cron', 1, 'makes a cron', null, applyTo('home')],
    ['place_cron', 1, 'moves a cron', applyTo('home'), applyTo('there')],
    ['retire_cron', 1, 'moves a cron', applyTo('home'), applyTo('there')],
    ['set_cron', 1, 'moves a cron', applyTo('home'), applyTo('there')],
    ['drop_cron', 1, 'moves a cron', applyTo('home'), applyTo('there')],
    ['place_cron', 2, 'moves a cron', applyTo('home'), applyTo('there')],
    ['set_cron', 1, 'moves a cron home', applyTo('there'), applyTo('home')],
    ['drop_cron', 1, 'removes a cron', applyTo('there'), remove],
    ['remove_cron', 1, 'removes a cron', applyTo('home'), remove],
  ])('whose %s (%i) comes too late as it %s changes nothing more', async (name, nth, _what, first, write) => {
    const { world } = stage
    const epochs = createLeaderEpochs(world.engine, BOX)
    const { compiler } = await epochs.begin()
    await first?.(compiler)
    let before: unknown = null
    let left = nth
    world.faults.before = async (step) => {
      left -= step.name === name ? 1 : 0
      if (left > 0 || before !== null) return
      before = 'begins'
      await epochs.begin()
      before = await dump()
    }
    assert.deepEqual(await write(compiler), { status: 'superseded' })
    assert.deepEqual(await dump(), before)
  })
})

test.each([
  [
    'damaged',
    (id: number) =>
      connection.hset(stage.world.engine.shards[stage.shardAt('home')]!.cronDefinitions, String(id), '['),
  ],
  [
    'lost',
    (id: number) =>
      connection.hdel(stage.world.engine.shards[stage.shardAt('home')]!.cronDefinitions, String(id)),
  ],
] as const)(
  'a cron whose definition is %s is mended by an edit, and its tick is noted',
  async (_how, damage) => {
    const { cronId } = await stage.apply('home')
    await damage(cronId)
    assert.equal(await stage.passTo(NOON_MS), 0)
    const { nextRunAtMs } = await stage.apply('home', { cronExpression: '*/2 * * * *' })
    assert.equal(nextRunAtMs, NOON_MS + 2 * MINUTE_MS)
    const runs = (await stage.runs()).map(({ scheduledAtMs, result, ticks }) => [
      scheduledAtMs,
      result,
      ticks,
    ])
    assert.deepEqual(runs, [[NOON_MS, 'missed', 1]])
    assert.equal(await stage.passTo(NOON_MS + 2 * MINUTE_MS), 1)
  },
)

describe('an id of before the data was lost', () => {
  test('is given again', async () => {
    const { store } = stage
    const formerId = 7 * 3 + stage.shardAt('home')
    assert.equal((await store.apply(TEAM, NAME, stage.settings('home'), formerId)).cronId, formerId)
    const { cronId } = await store.apply(TEAM, NAME, stage.settings('home'))
    assert.equal(cronId, formerId)
  })

  test.each(['home', 'there'] as const)('is not given again while a cron of it lives %s', async (place) => {
    const { store } = stage
    const { cronId } = await stage.apply(place)
    const other = sameHome()
    const made = await store.apply(TEAM, other, stage.settings('home'), cronId)
    assert.notEqual(made.cronId, cronId)
    assert.equal((await store.getByName(TEAM, NAME))?.cronId, cronId)
    assert.equal((await store.getByName(TEAM, other))?.name, other)
  })

  test('of another shard is not given', async () => {
    const formerId = 7 * 3 + stage.shardAt('there')
    const { cronId } = await stage.store.apply(TEAM, NAME, stage.settings('home'), formerId)
    assert.notEqual(cronId, formerId)
  })

  /** Another name with the same home. */
  function sameHome(): string {
    const home = stage.shardAt('home')
    for (let i = 0; ; i += 1) if (stage.homeOf(`other-${i}`) === home) return `other-${i}`
  }
})

describe('the history of a hidden queue', () => {
  test('is short, and has every run that the cron shows', async () => {
    const { cronId } = await stage.apply('home', { missedRunPolicy: 'all' })
    const { engine } = stage.world
    const keys = shardKeys(engine, stage.shardAt('home'))
    const { history: h, summaries: d } = keys.queue(String(Math.floor(cronId / engine.shards.length)))
    let longest = 0
    for (let nth = 1; nth <= 40; nth += 1) {
      // Ten ticks each, made up for.
      assert.equal(await stage.passTo(NOON_MS + nth * 10 * MINUTE_MS), nth === 1 ? 11 : 10)
      await stage.finish(await stage.claimAll(20))
      longest = Math.max(longest, await redis.client.llen(h))
    }
    assert.ok(longest > CRON_RECORDS_MAX && longest <= 270, `${longest} chains`)
    const runs = await stage.runs()
    assert.equal(runs.length, CRON_RECORDS_MAX)
    for (const { jobId, result } of runs) {
      assert.equal(result, 'succeeded')
      assert.equal(await redis.client.hexists(d, String(jobId)), 1)
    }
    assert.deepEqual(await inspect(engine), [])
  })

  test('of a queue with a name is as long as that of any other', async () => {
    await stage.apply('there', { missedRunPolicy: 'all' })
    for (let nth = 1; nth <= 40; nth += 1) {
      await stage.passTo(NOON_MS + nth * 10 * MINUTE_MS)
      await stage.finish(await stage.claimAll(20))
    }
    const h = shardKeys(stage.world.engine, stage.shardAt('there')).queue('1').history
    assert.equal(await redis.client.llen(h), 401)
  })
})

describe('runs that end in one step', () => {
  test.each([
    [[true, false], 0],
    [[false, true], 1],
    [[true, false, true, true], 2],
  ])('failed %j: their failures are counted in their order', async (failed, failures) => {
    const { cronId } = await stage.apply('home')
    for (const _ of failed) await stage.store.runNow(TEAM, cronId)
    const claims = await stage.claimAll()
    const source = claims[0]?.source ?? assert.fail('nothing to claim')
    await source.finish(claims.map(({ work }, i) => ended(stage.world, work, { failed: failed[i] === true })))
    assert.equal((await stage.store.get(TEAM, cronId))?.consecutiveFailures, failures)
  })
})

describe('a run whose executor is lost', () => {
  test('once is taken up again, and for good has failed', async () => {
    const { world } = stage
    const { cronId } = await stage.apply('home', { concurrencyPolicy: 'forbid' })
    const started = await stage.store.runNow(TEAM, cronId)
    assert.ok(started.status === 'started')
    const stillRunning = { status: 'still_running', jobId: started.jobId }
    const upkeep = createShardMaintenance(world.engine, stage.shardAt('home'))
    for (let loss = 1; loss <= LOST_LEASES_MAX; loss += 1) {
      const source = await openExecutor(world, `lost-${loss}`, stage.shardAt('home'))
      assert.equal((await claimed(source, 1)).length, 1)
      assert.deepEqual(await stage.store.runNow(TEAM, cronId), stillRunning)
      for (let i = 0; i < 2; i += 1) {
        world.clock.advance(9_000)
        await upkeep.promote()
      }
      await upkeep.reap()
    }
    assert.equal((await stage.runs())[0]?.result, 'failed')
    assert.equal((await stage.store.get(TEAM, cronId))?.consecutiveFailures, 1)
    assert.equal((await stage.store.runNow(TEAM, cronId)).status, 'started')
  })
})

describe('large headers', () => {
  const headers = Object.fromEntries(
    Array.from({ length: 60 }, (_, i) => [`x-large-${i}`, 'x'.repeat(8_000)]),
  )

  test('count as a payload does in what one step sends', async () => {
    const { store, world } = stage
    const names = Array.from({ length: 50 }, (_, i) => `large-${i}`).filter(
      (name) => stage.homeOf(name) === 0,
    )
    const settings = stage.settings('home', { headers })
    for (const name of names.slice(0, 5)) await store.apply(TEAM, name, settings)
    world.clock.advance(10_000)
    const source = stage.sources[0] ?? assert.fail('no source')
    const upcoming = await source.upcoming(NOON_MS - 10_000, NOON_MS, 5)
    const run = (cron: DueCron) => ({ cron, run: [NOON_MS], missed: null, nextMs: NOON_MS + MINUTE_MS })
    const steps = await source.prepare(upcoming.map(run))
    assert.deepEqual(
      steps.map(({ crons }) => crons),
      [2, 2, 1],
    )
  })
})

describe('what is in force already', () => {
  test.each(['home', 'there'] as const)('is not written again: a cron that lives %s', async (place) => {
    const writes = async () => {
      const stats = await redis.client.info('commandstats')
      return [...stats.matchAll(/^cmdstat_(hset|hdel|zadd|zrem|rpush|del|unlink):calls=(\d+)/gm)]
        .map(([, name, calls]) => `${name} ${calls}`)
        .toSorted()
    }
    await stage.apply(place)
    await redis.client.config('RESETSTAT')
    await stage.apply(place)
    // The shard's clock.
    assert.deepEqual(await writes(), ['hset 1'])
  })
})

describe('an inspection', () => {
  test.each(['home', 'there'] as const)(
    'finds a cron that is %s and that nobody looks for',
    async (place) => {
      const { engine } = stage.world
      const { cronId } = await stage.apply(place)
      const home = shardKeys(engine, stage.shardAt('home'))
      await (place === 'home' ? redis.client.del(home.cronIds) : redis.client.del(home.cronShards))
      const { cronStates: ks } = shardKeys(engine, stage.shardAt(place))
      const message = `holds cron ${cronId}, which its home does not place there`
      assert.ok((await inspect(engine)).some((each) => each.key === ks && each.message === message))
    },
  )
})

test('a cron that leaves a shard has a newer state there than before, once', async () => {
  const { world } = stage
  const { cronId } = await stage.apply('home')
  const keys = shardKeys(world.engine, stage.shardAt('home'))
  const before = (await redis.client.hget(keys.cronStates, String(cronId))) ?? assert.fail('no state')
  const retire = async () =>
    String(await world.engine.runner.run(RETIRE_CRON.with({ keys, cronId, epoch: '' })))
  const state = await retire()
  assert.equal(decodeState(state).version, decodeState(before).version + 1)
  assert.equal(await retire(), state)
})

describe('a removal', () => {
  test.each(['home', 'there'] as const)(
    'whose answer was lost is done: a cron that lives %s',
    async (place) => {
      const { world, store } = stage
      await stage.apply(place)
      world.faults.resent.add('remove_cron')
      assert.equal(await store.remove(TEAM, NAME), 'removed')
      assert.equal(await store.remove(TEAM, NAME), 'not_found')
      await stage.expectOnlyAt(null)
    },
  )

  test('leaves nothing to ticks that were made ready', async () => {
    const { world } = stage
    await stage.apply('home')
    const source = stage.sources[stage.shardAt('home')] ?? assert.fail('no source')
    const [cron] = await source.upcoming(NOON_MS - 10_000, NOON_MS, 10)
    assert.ok(cron !== undefined)
    const run = { cron, run: [NOON_MS], missed: null, nextMs: NOON_MS + MINUTE_MS }
    const [ready] = await source.prepare([run])
    await stage.store.remove(TEAM, NAME)
    await stage.apply('home')
    world.clock.advance(10_000)
    assert.deepEqual(await ready?.send(), { started: 0, outdated: 1 })
    const keys = shardKeys(world.engine, stage.shardAt('home'))
    assert.equal(await redis.client.exists(keys.queue(String(Math.floor(cron.cronId / 3))).records), 0)
  })
})
