import { afterAll, beforeEach, describe, expect } from 'vitest'
import { inspect } from '../../../../src/redis/upkeep/inspection/inspect.ts'
import type { RedisConnection } from '../../../../src/redis/base/client/connection.ts'
import {
  channelRecordIn,
  encodeChannelRecord,
} from '../../../../src/redis/ledger/notifications/channel-record.ts'
import { assertClean } from '../../../support/engine/model-executor.ts'
import { openConnection, openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { NotifierStage, TEAM } from './notifier-stage.ts'

describe('the inspection of channels', () => {
  let redis: TestRedis
  let connection: RedisConnection
  let world: World

  test.beforeAll(async ({ emptyRedis }) => {
    redis = emptyRedis
    connection = await openConnection(redis.url)
  })
  afterAll(() => connection.disconnect())
  beforeEach(async () => {
    world = await openWorld(redis, { connection, shards: 1 })
    const stage = new NotifierStage(world)
    await stage.prepare()
    await stage.fail(2)
    await stage.pumpFor(4_000)
    await assertClean(world)
  })

  const keys = () => world.engine.shards[0] ?? expect.fail()
  const states = () => keys().channelStates(TEAM)
  const messages = async () => (await inspect(world.engine)).map(({ message }) => message)

  async function change(from: string, to: string): Promise<void> {
    const text = (await connection.hget(states(), 'ops')) ?? ''
    expect(text).toContain(from)
    await connection.hset(states(), 'ops', text.replace(from, to))
  }

  test('finds a damaged record', async () => {
    await connection.hset(states(), 'ops', '1|{')
    expect(await messages()).toEqual(['holds ops = 1|{'])
  })

  test('finds a channel that was told of more than there was', async () => {
    const { totals } = await new NotifierStage(world).board.totals(TEAM)
    const failure = totals.find(({ type }) => type === 'failure') ?? expect.fail()
    await change(`[${failure.born},2]`, `[${failure.born},3]`)
    expect(await messages()).toEqual([`counts 3 of ${failure.fingerprint} as told; there are 2`])
  })

  test('finds a message on its way that nobody will look at, and one without its text', async () => {
    const text = (await connection.hget(states(), 'ops')) ?? ''
    const record = channelRecordIn(text) ?? expect.fail()
    const delivery = {
      id: 'a',
      tries: 1,
      startedAtMs: 1,
      phase: 'sending' as const,
      untilMs: 1,
      ranges: {},
      accepted: [],
    }
    const damaged = encodeChannelRecord(9, { ...record, state: { ...record.state, delivery } })
    await connection.hset(states(), 'ops', damaged)
    expect(await messages()).toEqual([
      'holds ops with a message on its way that nobody will look at',
      'holds ops with a message and no delivery, or the other way round',
    ])
  })

  test('finds notices of channels and teams that are not there', async () => {
    await redis.client.zadd(keys().notices, 1, `${TEAM}/gone`, 2, 'strangers')
    expect((await messages()).toSorted()).toEqual([
      `names ${TEAM}/gone, which is not there`,
      'names strangers, which is not there',
    ])
  })

  test('finds channels outside the home of their team', async () => {
    const two = await openWorld(redis, { connection, shards: 2 })
    const stage = new NotifierStage(two)
    await stage.prepare()
    const [first, second] = two.engine.shards
    const [home, other] =
      (await connection.hlen(first?.channelStates(TEAM) ?? '')) > 0 ? [first, second] : [second, first]
    const text = (await connection.hget(home?.channelStates(TEAM) ?? '', 'ops')) ?? ''
    await connection.hset(other?.channelStates(TEAM) ?? '', 'ops', text)
    expect((await inspect(two.engine)).map(({ message }) => message)).toEqual([
      'is not in the home of its team',
    ])
  })
})
