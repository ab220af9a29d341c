import { afterAll, beforeEach, describe, expect } from 'vitest'
import { StoreUnavailableError } from '../../../../src/domain/errors.ts'
import { inspect } from '../../../../src/redis/upkeep/inspection/inspect.ts'
import type { RedisConnection } from '../../../../src/redis/base/client/connection.ts'
import { homeOfChannels } from '../../../../src/redis/ledger/notifications/channel-steps.ts'
import { openConnection, openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { channelOf, NotifierStage, SENT, settingsOf, TEAM } from './notifier-stage.ts'

const MINUTE = 60_000

describe('delivery of alerts', () => {
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
    world = await openWorld(redis, { connection, shards: 4 })
    stage = new NotifierStage(world)
    await stage.prepare()
  })

  /** Nothing is left to tell, and no notice. */
  async function expectQuiet(): Promise<void> {
    const look = await stage.board.snapshot({ team: TEAM, channel: 'ops' })
    expect(look?.state.delivery).toBe(null)
    const { totals } = await stage.board.totals(TEAM)
    const failures = totals.filter(({ type }) => type === 'failure')
    for (const { shard, fingerprint, born, total } of failures)
      expect(look?.state.told[`${shard}/${fingerprint}`]).toEqual([born, total])
    const notices = await Promise.all(world.engine.shards.map((keys) => connection.zcard(keys.notices)))
    expect(notices).toEqual([0, 0, 0, 0])
    expect(await inspect(world.engine)).toEqual([])
  }

  test('an alert is told in one pump, and nothing is due after it', async () => {
    await stage.fail(1)
    await stage.pump()
    expect(stage.sent).toHaveLength(1)
    const [message] = stage.sent
    expect(message?.alerts).toBe(1)
    expect(message?.entries[0]?.alert.resource.name).toBe('emails')
    await stage.pumpFor(2_000)
    expect(stage.sent).toHaveLength(1)
    await expectQuiet()
  })

  test(
    '10,000 failures of one queue are four messages at most, with each counted',
    { timeout: 60_000 },
    async () => {
      const startMs = world.clock.wallMs
      for (let i = 0; i < 20; i += 1) {
        await stage.fail(500)
        await stage.pump()
        world.clock.advance(3_000)
      }
      while (world.clock.wallMs < startMs + 15 * MINUTE) {
        world.clock.advance(10_000)
        await stage.pump()
      }
      expect(stage.sent.length).toBeLessThanOrEqual(4)
      expect(stage.told).toBe(10_000)
      await expectQuiet()
    },
  )

  test('a failure is told within 3 s of a warning, whatever another team is told', async () => {
    const settings = settingsOf([channelOf({ alertTypes: ['warning', 'failure'] })])
    const other = new NotifierStage(world, settings, 'others')
    stage.settings = settings
    await other.prepare()
    await stage.fail(1, 'emails', { isForGood: false })
    await stage.pump()
    for (let i = 0; i < 10; i += 1) {
      await other.fail(1, `queue${i}`, { isForGood: false })
      await other.pumpFor(1_000)
    }
    await stage.fail(1)
    await stage.pumpFor(2_000)
    expect(stage.sent.map(({ entries }) => entries.map(({ alert }) => alert.type))).toEqual([
      ['warning'],
      ['failure', 'warning'],
    ])
    await other.fail(1, 'queue10')
    await other.pumpFor(2_000)
    expect(other.sent).toHaveLength(5)
    expect(other.sent.at(-1)?.entries[0]?.alert.type).toBe('failure')
    await stage.fail(1)
    await stage.pumpFor(10_000)
    expect(stage.sent).toHaveLength(2)
  })

  test('two executors that find a channel due send one message', async () => {
    await stage.fail(3)
    const names = ['ops']
    const { raised } = await stage.board.due()
    for (const notice of raised) await stage.board.forward(notice, names)
    await Promise.all([stage.tend(), stage.tend(), stage.tend()])
    expect(stage.sent).toHaveLength(1)
    await stage.pumpFor(MINUTE)
    expect(stage.told).toBe(3)
  })

  test.each([0, 2_000])(
    'an alert raised between look and write, %i ms after the last, is not forgotten',
    async (ms) => {
      await stage.fail(1)
      await stage.pump()
      let isRaised = false
      world.faults.before = async ({ name }) => {
        if (name !== 'set_channel' || isRaised) return
        isRaised = true
        await stage.fail(1, 'others')
        const { raised } = await stage.board.due()
        for (const notice of raised) await stage.board.forward(notice, ['ops'])
      }
      world.clock.advance(ms)
      await stage.pump()
      world.faults.before = () => undefined
      await stage.pumpFor(3_000)
      expect(isRaised).toBe(true)
      expect(stage.told).toBe(2)
    },
  )

  test('an alert raised while a notice is forwarded keeps the notice', async () => {
    await stage.fail(1)
    world.faults.before = async ({ name }) => {
      if (name !== 'mark_channels') return
      world.faults.before = () => undefined
      await stage.fail(1)
    }
    const [notice] = (await stage.board.due()).raised
    await stage.board.forward(notice ?? expect.fail(), ['ops'])
    expect((await stage.board.due()).raised).toEqual([notice])
    await stage.pumpFor(1_000)
    expect((await stage.board.due()).raised).toEqual([])
    expect(stage.told).toBe(2)
  })

  test.each(Array.from({ length: 7 }, (_, i) => i))(
    'an executor that dies at its write number %i loses and doubles nothing',
    async (dyingAt) => {
      await stage.fail(5)
      let writes = 0
      world.faults.before = ({ name }) => {
        if (!['set_channel', 'mark_channels', 'clear_notice'].includes(name)) return
        if (writes >= dyingAt) throw new Error('killed')
        writes += 1
      }
      await stage.pump().catch(() => undefined)
      world.faults.before = () => undefined
      await stage.fail(2)
      await stage.pumpFor(2 * MINUTE)
      expect(stage.told).toBe(7)
      await expectQuiet()
    },
  )

  test('a message whose executor dies is sent again under its id when the lease has run out', async () => {
    await stage.fail(1)
    const hang = Promise.withResolvers<typeof SENT>()
    stage.answer = () => hang.promise
    const dead = stage.pump()
    await expect.poll(() => stage.sent.length).toBe(1)
    stage.answer = () => SENT
    const next = new NotifierStage(world)
    await next.pumpFor(13_000)
    expect(next.sent).toHaveLength(0)
    await next.pumpFor(3_000)
    expect(next.sent).toEqual(stage.sent)
    // The first one was only slow: its result is too late.
    hang.resolve(SENT)
    await dead
    await stage.pumpFor(MINUTE)
    expect(next.sent).toHaveLength(1)
    await expectQuiet()
  })

  test.each(['set_channel', 'mark_channels', 'clear_notice'] as const)(
    'a lost answer of %s sends nothing twice',
    async (name) => {
      await stage.fail(1)
      world.faults.resent.add(name)
      await stage.pumpFor(3_000)
      expect(stage.sent).toHaveLength(1)
      await expectQuiet()
    },
  )

  test('the log names each message once, and keeps the last 1,000', async () => {
    const { deliveryLog } = homeOfChannels(world.engine, TEAM)
    await redis.client.rpush(deliveryLog(TEAM), ...Array.from({ length: 1_000 }, (_, i) => String(i)))
    stage.answer = () => {
      world.faults.resent.add('set_channel')
      return SENT
    }
    await stage.fail(1)
    await stage.pumpFor(2_000)
    const [last, before] = (await redis.client.lrange(deliveryLog(TEAM), -2, -1)).toReversed()
    expect(JSON.parse(last ?? '')).toMatchObject({ channel: 'ops', state: 'sent', tries: 1 })
    expect(before).toBe('999')
    expect(await redis.client.llen(deliveryLog(TEAM))).toBe(1_000)
  })

  test('a result is written although the channel changes at the same time', async () => {
    await stage.fail(1)
    let isChanged = false
    stage.answer = () => {
      world.faults.before = async ({ name }) => {
        if (name !== 'set_channel' || isChanged) return
        isChanged = true
        const look = (await stage.board.snapshot({ team: TEAM, channel: 'ops' })) ?? expect.fail()
        const state = { ...look.state, lastAnswer: 'of another' }
        await stage.board.report(look, { state, message: look.message, dueMs: look.nowMs })
      }
      return SENT
    }
    await stage.pump()
    expect(isChanged).toBe(true)
    await stage.pumpFor(MINUTE)
    expect(stage.sent).toHaveLength(1)
    await expectQuiet()
  })

  test('a mail that some members have goes to the others when it is tried again', async () => {
    const members = ['ada', 'bob'].map((name) => ({ name, email: `${name}@a.test` }))
    stage.settings = { ...settingsOf([channelOf({ type: 'email' })], 2), members }
    stage.answer = () => ({
      kind: 'failed',
      answer: '451',
      isFinal: false,
      retryAfterMs: null,
      accepted: ['ada@a.test'],
    })
    await stage.fail(1)
    await stage.pumpFor(10_000)
    expect(stage.recipients).toEqual([['ada@a.test', 'bob@a.test'], ['bob@a.test']])
  })

  test('a channel in trouble that finds no place lets others go first', async () => {
    stage.answer = () => ({
      kind: 'failed',
      answer: '503',
      isFinal: false,
      retryAfterMs: null,
      accepted: [],
    })
    await stage.fail(1)
    await stage.pump()
    world.clock.advance(5_000)
    stage.hasPlace = false
    await stage.pump()
    expect(stage.sent).toHaveLength(1)
    expect((await stage.board.due()).channels).toEqual([])
    stage.hasPlace = true
    await stage.pumpFor(5_000)
    expect(stage.sent).toHaveLength(2)
  })

  test('a channel that is new gets no history', async () => {
    await stage.fail(3)
    await stage.pump()
    stage.settings = settingsOf([channelOf(), channelOf({ name: 'second' })], 2)
    await stage.prepare()
    stage.sent.length = 0
    await stage.pumpFor(5_000)
    expect(stage.sent).toHaveLength(0)
    world.clock.advance(20 * MINUTE)
    await stage.fail(1)
    await stage.pumpFor(2_000)
    expect(stage.sent.map(({ alerts }) => alerts)).toEqual([1, 1])
  })

  test('a channel that is gone is forgotten, but not by executors with older settings', async () => {
    const keys = homeOfChannels(world.engine, TEAM).channelStates(TEAM)
    stage.settings = settingsOf([channelOf(), channelOf({ name: 'second' })], 2)
    await stage.prepare()
    await stage.board.prepare(TEAM, { version: 1, channels: ['ops'] })
    expect((await connection.hkeys(keys)).toSorted()).toEqual(['ops', 'second'])
    stage.settings = settingsOf([channelOf({ name: 'second' })], 3)
    await stage.prepare()
    expect(await connection.hkeys(keys)).toEqual(['second'])
    await stage.pumpFor(5_000)
    expect(await inspect(world.engine)).toEqual([])
  })

  test('a channel begins only when the alerts of all shards can be read', async () => {
    stage.settings = settingsOf([channelOf({ name: 'second' })], 2)
    const home = homeOfChannels(world.engine, TEAM)
    const totals = world.engine.shards.map((keys) => keys.alertTotals(TEAM))
    const silent = totals[(home.shard + 1) % 4] ?? ''
    await connection.eval("redis.call('SET', KEYS[1], 'no hash')", 1, silent)
    await expect(stage.prepare()).rejects.toThrow(StoreUnavailableError)
    expect(await connection.hkeys(home.channelStates(TEAM))).toEqual([])
    await connection.del(silent)
    await stage.prepare()
    expect(await connection.hkeys(home.channelStates(TEAM))).toEqual(['second'])
  })

  test('a damaged record is made anew', async () => {
    const home = homeOfChannels(world.engine, TEAM)
    await connection.hset(home.channelStates(TEAM), 'ops', '7|{"state"')
    await stage.fail(1)
    await stage.pump()
    expect(await stage.tend()).toBe('unknown')
    await stage.prepare()
    await stage.fail(1)
    await stage.pumpFor(5_000)
    expect(stage.told).toBe(1)
    await expectQuiet()
  })

  test('alerts that somebody deleted are not told', async () => {
    await stage.fail(2)
    for (const keys of world.engine.shards) {
      await connection.del(keys.alertRecords(TEAM), keys.alertOrder(TEAM), keys.alertCounts(TEAM))
    }
    await stage.pumpFor(3_000)
    expect(stage.sent).toHaveLength(0)
  })
})
