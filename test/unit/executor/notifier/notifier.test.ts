import { loopsOf } from '../../../support/loops.ts'
import assert from 'node:assert/strict'
import { beforeEach, test } from 'vitest'
import type { Channel, ChannelType } from '../../../../src/domain/notifications/channel.ts'
import { newChannelState } from '../../../../src/domain/notifications/channel-state.ts'
import { DeliveryPlaces } from '../../../../src/executor/notifier/delivery-places.ts'
import { Notifier } from '../../../../src/executor/notifier/notifier.ts'
import type {
  ChannelSnapshot,
  ChannelRef,
  ChannelSender,
  NotificationBoard,
  RaisedNotice,
} from '../../../../src/ports/notifications.ts'
import { NO_TEAM_SETTINGS, type TeamSettings } from '../../../../src/ports/settings.ts'
import { createFakeClock, quiescence } from '../../../support/fake-clock.ts'
import { latched } from '../../../support/latched.ts'
import { quietLogger, quietMetrics } from '../../../support/quiet.ts'

let clock = createFakeClock()
let due: ChannelRef[] = []
const looks = new Map<string, ChannelSnapshot>()
let teams = new Map<string, TeamSettings>()
let notified: readonly string[] = []
let prepared: Array<[team: string, version: number, channels: readonly string[]]> = []
let raised: RaisedNotice[] = []
let forwarded: string[] = []
let writes: Array<[channel: string, dueMs: number | null]> = []
/** Looks under way, and the most at once. */
let looking = { now: 0, most: 0 }
let preparing = (_team: string): Promise<void> => Promise.resolve()
let logged: string[] = []
let send = latched<ChannelSender['send']>()
const signals: AbortSignal[] = []

beforeEach(() => {
  clock = createFakeClock()
  ;[due, prepared, raised, forwarded, writes, logged] = [[], [], [], [], [], []]
  looking = { now: 0, most: 0 }
  preparing = () => Promise.resolve()
  looks.clear()
  teams = new Map()
  send = latched<ChannelSender['send']>()
  signals.length = 0
})

const nameOf = ({ team, channel }: ChannelRef) => `${team}/${channel}`

/** A channel that owes nothing yet. */
function addIdleTeam(team: string, settingsVersion = 1): void {
  addTeam(team, ['slack'])
  const snapshot = looks.get(`${team}/slack0`)
  assert.ok(snapshot)
  looks.set(`${team}/slack0`, { ...snapshot, state: newChannelState({}, settingsVersion) })
}

/** A team with channels that each owe one test message. */
function addTeam(team: string, types: readonly ChannelType[], version = 1): void {
  const channels = types.map((type, i): Channel => {
    const channel = `${type}${i}`
    const test = { id: `${team}-${channel}`, askedAtMs: 0, sendingUntilMs: null, result: null }
    const state = { ...newChannelState({}, 1), test }
    looks.set(`${team}/${channel}`, {
      team,
      channel,
      state,
      message: null,
      nowMs: 0,
      mark: { version: '', due: '' },
    })
    due.push({ team, channel })
    return { name: channel, type, alertTypes: ['failure'], url: null }
  })
  teams.set(team, { ...NO_TEAM_SETTINGS, version, channels })
  notified = [...teams.keys()]
}

function newNotifier(): Notifier {
  const board: NotificationBoard = {
    due: () => Promise.resolve({ raised, channels: due }),
    forward: ({ team }) => {
      forwarded.push(team)
      return team === 'silent' ? Promise.reject(new Error('away')) : Promise.resolve()
    },
    prepare: async (team, { version, channels }) => {
      await preparing(team)
      prepared.push([team, version, channels])
    },
    snapshot: async (ref) => {
      looking.most = Math.max(looking.most, (looking.now += 1))
      await Promise.resolve()
      looking.now -= 1
      return looks.get(nameOf(ref)) ?? null
    },
    totals: () => Promise.resolve({ totals: [], shards: new Set() }),
    alerts: () => Promise.resolve(new Map()),
    write: (snapshot, { state, message, dueMs }) => {
      writes.push([nameOf(snapshot), dueMs])
      looks.set(nameOf(snapshot), { ...snapshot, state, message })
      return Promise.resolve(true)
    },
    report: (snapshot, { state, message }) => {
      looks.set(nameOf(snapshot), { ...snapshot, state, message })
      due = due.filter((ref) => nameOf(ref) !== nameOf(snapshot))
      return Promise.resolve(true)
    },
  }
  return new Notifier({
    board,
    sender: {
      send: (delivery, signal) => {
        signals.push(signal)
        return send(delivery, signal)
      },
      close: () => Promise.resolve(),
    },
    teams: { of: (team) => teams.get(team) ?? NO_TEAM_SETTINGS, notifiedTeams: () => notified },
    metrics: quietMetrics,
    loops: loopsOf({ clock, logger: quietLogger }),
    logger: {
      ...quietLogger,
      debug: (text) => void logged.push(`debug ${text}`),
      warn: (text) => void logged.push(`warn ${text}`),
    },
    clock,
    newId: () => 'id',
    random: () => 0,
  })
}

const beingSent = () => send.calls.map(({ args: [{ notification }] }) => notification.id)

test('sends at most four of a type at once, one of a team, and other types beside them', async () => {
  for (let i = 0; i < 1_000; i += 1) addTeam(`slow${i}`, ['webhook', 'webhook'])
  addTeam('other', ['slack', 'email'])
  const notifier = newNotifier()
  notifier.start()
  await clock.advance(3_000)
  assert.deepEqual(beingSent(), [
    ...[0, 1, 2, 3].map((i) => `slow${i}-webhook0`),
    'other-slack0',
    'other-email1',
  ])
  send.next.answer({ kind: 'sent', answer: 'ok' })
  await clock.advance(1_000)
  assert.equal(beingSent().length, 7)
  const stopped = notifier.stopSending(0)
  send.rule = () => ({ kind: 'aborted', accepted: [] })
  for (const call of send.calls) if (call.isOpen) call.answer({ kind: 'aborted', accepted: [] })
  await clock.advance(0)
  await stopped
})

test('channels that only wait hold up none that has something to send', async () => {
  for (let i = 0; i < 100; i += 1) addIdleTeam(`idle${i}`)
  addTeam('last', ['slack'])
  const notifier = newNotifier()
  notifier.start()
  await clock.advance(0)
  assert.deepEqual(beingSent(), ['last-slack0'])
  assert.equal(looking.most, 32)
  send.next.answer({ kind: 'sent', answer: 'ok' })
  await notifier.stopSending(0)
})

test('whoever found no place is sent as soon as one is free', async () => {
  for (let i = 0; i < 6; i += 1) addTeam(`team${i}`, ['slack'])
  const notifier = newNotifier()
  notifier.start()
  await clock.advance(0)
  for (const sent of [4, 5, 6]) {
    assert.equal(beingSent().length, sent)
    send.next.answer({ kind: 'sent', answer: 'ok' })
    await clock.advance(0)
  }
  assert.equal(beingSent().at(-1), 'team5-slack0')
  const stopped = notifier.stopSending(0)
  for (const call of send.calls) if (call.isOpen) call.answer({ kind: 'sent', answer: 'ok' })
  await stopped
})

test('a channel in trouble that finds no place leaves it to others, and is put off', async () => {
  for (let i = 0; i < 4; i += 1) {
    addIdleTeam(`bad${i}`)
    const snapshot = looks.get(`bad${i}/slack0`)
    assert.ok(snapshot)
    const delivery = {
      id: `bad${i}`,
      tries: 1,
      startedAtMs: 0,
      phase: 'waiting' as const,
      untilMs: 0,
      ranges: {},
      accepted: [],
    }
    const notification = {
      id: `bad${i}`,
      team: `bad${i}`,
      kind: 'alerts' as const,
      entries: [],
      moreEntries: 0,
      alerts: 1,
      createdAtMs: 0,
    }
    looks.set(`bad${i}/slack0`, {
      ...snapshot,
      nowMs: 20_000,
      message: notification,
      state: { ...snapshot.state, delivery },
    })
  }
  for (let i = 0; i < 2; i += 1) addTeam(`good${i}`, ['slack'])
  const notifier = newNotifier()
  notifier.start()
  await clock.advance(0)
  assert.deepEqual(beingSent().toSorted(), ['bad0', 'bad1', 'good0-slack0', 'good1-slack0'])
  assert.deepEqual(
    writes.filter(([, dueMs]) => dueMs === 25_000),
    [
      ['bad2/slack0', 25_000],
      ['bad3/slack0', 25_000],
    ],
  )
  send.rule = () => ({ kind: 'aborted', accepted: [] })
  for (const call of send.calls) if (call.isOpen) call.answer({ kind: 'aborted', accepted: [] })
  await notifier.stopSending(0)
})

test('a team whose shard is silent holds up no other, and is logged once', async () => {
  addTeam('silent', ['slack'])
  addTeam('shop', ['slack'])
  raised = [
    { shard: 0, team: 'silent' },
    { shard: 1, team: 'shop' },
  ]
  preparing = (team) => (team === 'silent' ? Promise.reject(new Error('away')) : Promise.resolve())
  const notifier = newNotifier()
  notifier.start()
  await clock.advance(0)
  assert.deepEqual(prepared, [['shop', 1, ['slack0']]])
  assert.deepEqual(forwarded, ['silent', 'shop'])
  assert.ok(beingSent().includes('shop-slack0'))
  const text = 'Alerts of some teams cannot be read for notifications; retrying'
  assert.deepEqual(logged, [`warn ${text}`])
  preparing = () => Promise.resolve()
  await clock.advance(1_000)
  assert.deepEqual(prepared.slice(1), [['silent', 1, ['slack0']]])
  assert.deepEqual(logged, [`warn ${text}`, `debug ${text}`])
  for (const call of send.calls) if (call.isOpen) call.answer({ kind: 'sent', answer: 'ok' })
  await notifier.stopSending(0)
})

test('a channel of later settings stays due, one that is gone does not', async () => {
  addIdleTeam('new', 2)
  addIdleTeam('gone', 1)
  for (const team of ['new', 'gone']) teams.set(team, { ...NO_TEAM_SETTINGS, version: 1 })
  const notifier = newNotifier()
  notifier.start()
  await clock.advance(0)
  assert.deepEqual(writes, [
    ['new/slack0', 3_000],
    ['gone/slack0', null],
  ])
  await notifier.stopSending(0)
})

test('lets what is being sent end when it stops, and aborts it after the grace', async () => {
  addTeam('a', ['slack'])
  const notifier = newNotifier()
  notifier.start()
  await clock.advance(1_000)
  let isStopped = false
  const stopped = notifier.stopSending(5_000).then(() => (isStopped = true))
  await clock.advance(4_999)
  assert.deepEqual([isStopped, signals[0]?.aborted], [false, false])
  await clock.advance(1)
  assert.equal(signals[0]?.aborted, true)
  assert.equal(isStopped, false)
  send.next.answer({ kind: 'aborted', accepted: [] })
  await stopped
  assert.equal(looks.get('a/slack0')?.state.test?.sendingUntilMs, null)
})

test('prepares the channels of teams whose settings changed, and of those that are gone', async () => {
  addTeam('a', ['slack'], 3)
  addTeam('b', ['slack'], 4)
  due = []
  const notifier = newNotifier()
  notifier.start()
  await clock.advance(2_000)
  assert.deepEqual(prepared, [
    ['a', 3, ['slack0']],
    ['b', 4, ['slack0']],
  ])
  teams.delete('a')
  addTeam('b', ['email'], 6)
  due = []
  await clock.advance(1_000)
  assert.deepEqual(prepared.slice(2), [
    ['a', 3, []],
    ['b', 6, ['email0']],
  ])
  await notifier.stopSending(0)
  await quiescence()
})

test('makes a channel anew whose record is lost', async () => {
  addTeam('a', ['slack'])
  looks.clear()
  const notifier = newNotifier()
  notifier.start()
  await clock.advance(1_000)
  assert.ok(prepared.length > 1)
  await notifier.stopSending(0)
})

test('channels are kept before the first job runs, which a silent Redis does not hold up', async () => {
  addTeam('shop', ['slack'])
  await newNotifier().prepare()
  assert.deepEqual(prepared, [['shop', 1, ['slack0']]])
  for (const silent of [() => new Promise<void>(() => undefined), () => Promise.reject(new Error('away'))]) {
    preparing = silent
    let isDone = false
    void newNotifier()
      .prepare()
      .then(() => (isDone = true))
    await clock.advance(2_000)
    assert.ok(isDone)
  }
})

test('keeps half of the places of a type for channels that are not in trouble', () => {
  const places = new DeliveryPlaces()
  const take = (team: string, isTroubled: boolean) => places.take('slack', { team, isTroubled })
  const [first] = ['a', 'b'].map((team) => take(team, true))
  assert.equal(take('c', true), null)
  assert.ok(take('c', false))
  assert.ok(take('d', false))
  assert.equal(take('e', false), null)
  first?.release()
  assert.ok(take('e', true))
})

test('a channel that our own code throws over is marked as failing and looked at a minute later; others are sent', async () => {
  addTeam('bad', ['slack'])
  addTeam('shop', ['slack'])
  const bad = teams.get('bad')
  assert.ok(bad)
  const broken = { ...bad, version: 1 }
  Object.defineProperty(broken, 'channels', {
    get: () => {
      throw new Error('CST is no time zone')
    },
  })
  const notifier = newNotifier()
  notifier.start()
  teams.set('bad', broken)
  notified = ['shop']
  await clock.advance(3_000)
  assert.ok(beingSent().includes('shop-slack0'))
  assert.deepEqual(
    writes.find(([name]) => name === 'bad/slack0'),
    ['bad/slack0', 60_000],
  )
  const state = looks.get('bad/slack0')?.state
  assert.equal(state?.lastAnswer, 'Punctual could not make the message: CST is no time zone')
  assert.equal(state?.failingSinceMs, 0)
  for (const call of send.calls) if (call.isOpen) call.answer({ kind: 'sent', answer: 'ok' })
  await notifier.stopSending(0)
})

test('a message that cannot be composed is a failed try, with the reason as its answer', async () => {
  addTeam('bad', ['slack'])
  addTeam('shop', ['slack'])
  send.rule = ({ notification }) => {
    if (notification.team === 'bad') throw new Error('no such alert type')
    return { kind: 'sent', answer: 'ok' }
  }
  const notifier = newNotifier()
  notifier.start()
  await clock.advance(3_000)
  const answerOf = (team: string) => looks.get(`${team}/slack0`)?.state.test?.result
  assert.equal(answerOf('bad')?.answer, 'Punctual could not make the message: no such alert type')
  assert.equal(answerOf('bad')?.isSent, false)
  assert.equal(answerOf('shop')?.isSent, true)
  await notifier.stopSending(0)
})
