import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, expect } from 'vitest'
import { cronScheduleOf, type CronSettings } from '../../../src/domain/crons/cron.ts'
import { CRON_RECORDS_MAX } from '../../../src/domain/limits.ts'
import { decideCron } from '../../../src/executor/crons/cron-decision.ts'
import type { CronSource, PreparedTicks, TickAnswer } from '../../../src/ports/crons.ts'
import { createCronStore } from '../../../src/redis/crons/cron-store.ts'
import { createCronSource } from '../../../src/redis/crons/tick/cron-source.ts'
import { INDEX } from '../../../src/redis/base/layout/fields.ts'
import type { ShardKeys } from '../../../src/redis/base/layout/keys.ts'
import { cronSettings } from '../../support/engine/cron-settings.ts'
import { assertClean, claimed, ended, openExecutor } from '../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../support/engine/model-world.ts'
import type { TestRedis } from '../../support/servers/redis-server.ts'
import { test } from '../../support/servers/shared-redis.ts'

const NOON_MS = Date.UTC(2032, 1, 28, 12)
const MINUTE_MS = 60_000
const TEAM = 'default'
const NAMES = ['first', 'second', 'third'] as const

/** Ticks that are alike are decided about together; each of these tests makes the second cron unlike the others. */
describe('a plain tick', () => {
  let redis: TestRedis
  let world: World
  let source: CronSource
  let ids: Map<string, number>

  test.beforeAll(({ emptyRedis }) => {
    redis = emptyRedis
  })
  afterEach(() => redis.client.config('SET', 'maxmemory', '0'))
  beforeEach(async () => {
    world = await openWorld(redis, { shards: 1, startMs: NOON_MS - 10_000 })
    source = createCronSource(world.engine, 0)
    ids = new Map()
    return () => world.close()
  })

  const keys = (): ShardKeys => world.engine.shards[0] as ShardKeys
  const store = () => createCronStore(world.engine)
  const idOf = (name: string) => ids.get(name) as number

  async function apply(name: string, change: Partial<CronSettings> = {}): Promise<void> {
    ids.set(name, (await store().apply(TEAM, name, cronSettings(change))).cronId)
  }

  /** Decides about what is due until then, which is 5 s before it at work. */
  async function prepare(untilMs: number): Promise<PreparedTicks[]> {
    const due = await source.upcoming(0, untilMs, 10)
    const decided = due.map((cron) => {
      const schedule = cronScheduleOf(cron.settings)
      assert.ok(!('problem' in schedule))
      return decideCron(schedule, cron, untilMs)
    })
    return source.prepare(decided)
  }

  async function send(prepared: readonly PreparedTicks[]): Promise<TickAnswer> {
    assert.equal(prepared.length, 1)
    return (prepared[0] as PreparedTicks).send()
  }

  /** Runs all that is due at this time to its end: from then on the hidden queues exist. */
  async function tickThrough(atMs: number): Promise<void> {
    const prepared = await prepare(atMs)
    world.clock.advance(atMs - world.clock.wallMs)
    await send(prepared)
    const executor = await openExecutor(world, `at${atMs}`)
    const works = await claimed(executor, 10)
    assert.equal(works.length, ids.size)
    await executor.finish(works.map((work) => ended(world, work)))
    await executor.leave()
  }

  /** The newest record of each cron, without the id of its run. */
  async function newest(): Promise<Record<string, string | undefined>> {
    const records = NAMES.map(async (name) => {
      const [record] = await redis.client.lrange(keys().cronRecords(String(idOf(name))), 0, 0)
      return [name, record?.split('|').slice(0, 2).join('|')] as const
    })
    return Object.fromEntries(await Promise.all(records))
  }

  const RAN = `r|${NOON_MS + MINUTE_MS}`
  const BEFORE = `s|${NOON_MS}`

  async function openThree(change: Partial<CronSettings> = {}, spreadMs = 0): Promise<PreparedTicks[]> {
    for (const name of NAMES) await apply(name, change)
    await tickThrough(NOON_MS + spreadMs)
    return prepare(NOON_MS + MINUTE_MS + spreadMs)
  }
  const passMinute = () => world.clock.advance(NOON_MS + MINUTE_MS - world.clock.wallMs)

  test('makes a run of each cron, and the next ticks, also where it is the first', async () => {
    for (const name of NAMES) await apply(name)
    await tickThrough(NOON_MS)
    const prepared = await prepare(NOON_MS + MINUTE_MS)
    passMinute()
    expect(await send(prepared)).toEqual({ started: 3, outdated: 0 })
    expect(await newest()).toEqual({ first: RAN, second: RAN, third: RAN })
    expect(await redis.client.zrange(keys().cronsDue, '0', '-1', 'WITHSCORES')).toEqual(
      NAMES.flatMap((name) => [String(idOf(name)), String(NOON_MS + 2 * MINUTE_MS)]),
    )
    await assertClean(world)
    // Sent again, it changes nothing.
    expect(await send(prepared)).toEqual({ started: 0, outdated: 3 })
    await assertClean(world)
  })

  test.each<readonly [string, () => Promise<unknown>]>([
    ['is paused', () => apply('second', { isActive: false })],
    ['is edited', () => apply('second', { url: 'http://other.test/' })],
    ['is removed', () => store().remove(TEAM, 'second')],
    ['has a damaged state', () => redis.client.hset(keys().cronStates, String(idOf('second')), '|')],
  ])('is left alone when its cron %s meanwhile, and the others run', async (what, change) => {
    const prepared = await openThree()
    const before = (await newest())['second']
    await change()
    passMinute()
    expect(await send(prepared)).toEqual({ started: 2, outdated: 1 })
    const after = await newest()
    expect(after).toEqual({ first: RAN, second: what === 'is removed' ? undefined : before, third: RAN })
  })

  test('is skipped where its cron forbids a run beside another, and noted', async () => {
    const prepared = await openThree({ concurrencyPolicy: 'forbid' })
    const state = await redis.client.hget(keys().cronStates, String(idOf('second')))
    const parts = (state ?? '').split('|')
    parts[6] = '16'
    await redis.client.hset(keys().cronStates, String(idOf('second')), parts.join('|'))
    passMinute()
    expect(await send(prepared)).toMatchObject({ outdated: 0 })
    expect(await newest()).toEqual({ first: RAN, second: `k|${NOON_MS + MINUTE_MS}`, third: RAN })
  })

  test('waits while the clock of Redis is behind its time', async () => {
    const prepared = await openThree()
    world.clock.advance(NOON_MS + MINUTE_MS - 1 - world.clock.wallMs)
    expect(await send(prepared)).toEqual({ started: 0, outdated: 0 })
    expect(await newest()).toEqual({ first: BEFORE, second: BEFORE, third: BEFORE })
    world.clock.advance(1)
    expect(await send(prepared)).toEqual({ started: 3, outdated: 0 })
  })

  test('is put off by the spread of its cron', async () => {
    const prepared = await openThree({ jitterSeconds: 30 }, 30_000)
    world.clock.advance(NOON_MS + MINUTE_MS + 30_000 - world.clock.wallMs)
    expect(await send(prepared)).toEqual({ started: 3, outdated: 0 })
    const due = await redis.client.zrange(keys().cronsDue, '0', '-1', 'WITHSCORES')
    for (const name of NAMES) {
      const spread = Number((await redis.client.hget(keys().cronStates, String(idOf(name))))?.split('|')[3])
      expect(due[due.indexOf(String(idOf(name))) + 1]).toBe(String(NOON_MS + 2 * MINUTE_MS + spread))
    }
    await assertClean(world)
  })

  test('is not made under ids that belong to another process', async () => {
    const prepared = await openThree()
    const block = (await redis.client.keys(keys().jobIndex(1).replace(/1$/, '*'))).toSorted().at(-1) ?? ''
    await redis.client.hset(block, INDEX.owner, 'somebody else')
    passMinute()
    expect(await send(prepared)).toEqual({ started: 0, outdated: 0 })
    expect(await newest()).toEqual({ first: BEFORE, second: BEFORE, third: BEFORE })
  })

  test('raises the counter to a block that Redis no longer knows as reserved', async () => {
    await apply('first')
    const prepared = await prepare(NOON_MS)
    await redis.client.del(keys().jobBlock)
    world.clock.advance(10_000)
    expect(await send(prepared)).toEqual({ started: 1, outdated: 0 })
    expect(await redis.client.get(keys().jobBlock)).toBe('0')
    await assertClean(world)
  })

  test("counts as missed when its team's share of the free memory is used up", async () => {
    const prepared = await openThree()
    const [, used = '0'] = /\nused_memory:(\d+)/.exec(await redis.client.info('memory')) ?? []
    await redis.client.config('SET', 'maxmemory', String(Number(used) + 64 * 1024 ** 2))
    await redis.client.hset(keys().teamUsage, `${TEAM}:b`, String(1024 ** 4))
    passMinute()
    await send(prepared)
    const missed = `m|${NOON_MS + MINUTE_MS}`
    expect(await newest()).toEqual({ first: missed, second: missed, third: missed })
  })

  test('keeps the last records of its cron alone', async () => {
    const prepared = await openThree()
    const list = keys().cronRecords(String(idOf('second')))
    await redis.client.rpush(list, ...Array.from({ length: CRON_RECORDS_MAX }, (_, i) => `s|${i}|16`))
    passMinute()
    await send(prepared)
    expect(await redis.client.llen(list)).toBe(CRON_RECORDS_MAX)
  })
})
