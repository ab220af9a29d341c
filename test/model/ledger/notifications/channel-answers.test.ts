import { afterAll, beforeEach, describe, expect } from 'vitest'
import { CHANNEL_TEST_TIMEOUT_MS } from '../../../../src/domain/limits.ts'
import type { DeliveryResult } from '../../../../src/ports/notifications.ts'
import type { RedisConnection } from '../../../../src/redis/base/client/connection.ts'
import { createChannelTester } from '../../../../src/redis/ledger/notifications/channel-tester.ts'
import {
  createChannelHealthReader,
  createDeliveryReader,
} from '../../../../src/redis/ledger/notifications/delivery-reader.ts'
import { openConnection, openWorld, type World } from '../../../support/engine/model-world.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { alertsOf } from '../alerts/alert-stage.ts'
import { channelOf, NotifierStage, SENT, settingsOf, TEAM } from './notifier-stage.ts'

const FAILED: DeliveryResult = {
  kind: 'failed',
  answer: '503',
  isFinal: false,
  retryAfterMs: null,
  accepted: [],
}

describe('what people learn of channels', () => {
  let redis: TestRedis
  let connection: RedisConnection
  let world: World
  let stage: NotifierStage

  test.beforeAll(async ({ emptyRedis }) => {
    redis = emptyRedis
    connection = await openConnection(redis.url)
  })
  afterAll(() => connection.disconnect())
  beforeEach(async () => {
    world = await openWorld(redis, { connection, shards: 1 })
    stage = new NotifierStage(world)
    await stage.prepare()
  })

  function newTester(ids = 'test') {
    const clock = createFakeClock()
    const tester = createChannelTester(world.engine, { clock, newId: () => ids })
    return { clock, ask: () => tester.requestTest(TEAM, 'ops') }
  }

  async function deliveries() {
    const reader = createDeliveryReader(world.engine, { of: () => stage.settings })
    const alerts = (await alertsOf(world)).map(({ alert }) => alert)
    const byId = await reader.deliveriesOf(TEAM, alerts)
    return alerts.map(({ id, type }) => [type, byId.get(id)?.map(({ state, answer }) => [state, answer])])
  }

  async function health() {
    const [channel] = await createChannelHealthReader(world.engine).healthOf(TEAM)
    return channel
  }

  test.each([
    [SENT, { isSent: true, answer: 'ok' }],
    [FAILED, { isSent: false, answer: '503' }],
  ])('a test is sent as alerts are, and answers what the channel said', async (answer, expected) => {
    const { clock, ask } = newTester()
    stage.answer = () => answer
    const asked = ask()
    await expect.poll(async () => (await stage.board.due()).channels).toHaveLength(1)
    await stage.pump()
    expect(stage.sent.map(({ kind, id, entries }) => [kind, id, entries])).toEqual([['test', 'test', []]])
    await expect
      .poll(async () => {
        await clock.advance(250)
        return Promise.race([asked, Promise.resolve(null)])
      })
      .toMatchObject({ status: 'answered', ...expected })
    expect((await health())?.lastAnswer).toBe(expected.answer)
    await stage.pumpFor(20_000)
    expect(stage.sent).toHaveLength(1)
  })

  test('one test of a channel is open at a time, until nobody waits for it', async () => {
    const first = newTester('first')
    const asked = first.ask()
    await expect.poll(async () => (await stage.board.due()).channels).toHaveLength(1)
    expect(await newTester('second').ask()).toEqual({ status: 'busy' })
    world.clock.advance(CHANNEL_TEST_TIMEOUT_MS)
    await expect
      .poll(async () => {
        await first.clock.advance(1_000)
        return Promise.race([asked, Promise.resolve(null)])
      })
      .toEqual({ status: 'no_executor' })
    const second = newTester('second')
    const answered = second.ask()
    await expect
      .poll(async () => {
        await stage.pump()
        await second.clock.advance(250)
        return Promise.race([answered, Promise.resolve(null)])
      })
      .toMatchObject({ status: 'answered' })
    expect(stage.sent.map(({ id }) => id)).toEqual(['second'])
  })

  test('a test of a channel that no executor keeps says that none answers', async () => {
    const { clock, ask } = newTester()
    await redis.client.flushdb()
    const asked = ask()
    await expect
      .poll(async () => {
        await clock.advance(1_000)
        return Promise.race([asked, Promise.resolve(null)])
      })
      .toEqual({ status: 'no_executor' })
  })

  test('an alert says what became of it on each channel that gets its type', async () => {
    stage.answer = () => FAILED
    await stage.fail(2)
    expect(await deliveries()).toEqual([
      ['warning', []],
      ['failure', [['pending', null]]],
    ])
    await stage.pump()
    expect(await deliveries()).toEqual([
      ['warning', []],
      ['failure', [['pending', '503']]],
    ])
    expect(await health()).toMatchObject({ state: 'retrying', failingSinceMs: null, lastAnswer: '503' })
    await stage.pumpFor(14 * 60_000)
    expect(await deliveries()).toEqual([
      ['warning', []],
      ['failure', [['failed', '503']]],
    ])
    expect((await health())?.state).toBe('failing')
    stage.answer = () => SENT
    await stage.fail(1)
    await stage.pumpFor(11 * 60_000)
    expect((await deliveries()).slice(2)).toEqual([
      ['warning', []],
      ['failure', [['sent', 'ok']]],
    ])
    expect(await health()).toMatchObject({ state: 'ok', failingSinceMs: null })
  })

  test('an alert from before a channel says nothing of it', async () => {
    await stage.fail(1)
    await stage.pump()
    stage.settings = settingsOf([channelOf(), channelOf({ name: 'second' })], 2)
    await stage.prepare()
    expect((await deliveries())[1]).toEqual(['failure', [['sent', 'ok']]])
  })
})
