import assert from 'node:assert/strict'
import { beforeEach, test } from 'vitest'
import type { Channel, ChannelType } from '../../../../src/domain/notifications/channel.ts'
import { newChannelState } from '../../../../src/domain/notifications/channel-state.ts'
import { DeliveryPlaces } from '../../../../src/executor/notifier/delivery-places.ts'
import { Notifier } from '../../../../src/executor/notifier/notifier.ts'
import type {
  ChannelLook,
  ChannelRef,
  ChannelSender,
  NotificationBoard,
} from '../../../../src/ports/notifications.ts'
import { NO_TEAM_SETTINGS, type TeamSettings } from '../../../../src/ports/settings.ts'
import { createFakeClock, quiescence } from '../../../support/fake-clock.ts'
import { latched } from '../../../support/latched.ts'
import { quietLogger, quietMetrics } from '../../../support/quiet.ts'

let clock = createFakeClock()
let due: ChannelRef[] = []
const looks = new Map<string, ChannelLook>()
let teams = new Map<string, TeamSettings>()
let notified: readonly string[] = []
let prepared: Array<[team: string, version: number, channels: readonly string[]]> = []
let preparing = (): Promise<void> => Promise.resolve()
let send = latched<ChannelSender['send']>()
const signals: AbortSignal[] = []

beforeEach(() => {
  clock = createFakeClock()
  ;[due, prepared] = [[], []]
  preparing = () => Promise.resolve()
  looks.clear()
  teams = new Map()
  send = latched<ChannelSender['send']>()
  signals.length = 0
})

const nameOf = ({ team, channel }: ChannelRef) => `${team}/${channel}`

/** A team with channels that each owe one test message. */
function addTeam(team: string, types: readonly ChannelType[], version = 1): void {
  const channels = types.map((type, i): Channel => {
    const channel = `${type}${i}`
    const test = { id: `${team}-${channel}`, askedAtMs: 0, sendingUntilMs: null, result: null }
    const state = { ...newChannelState({}, 1), test }
    looks.set(`${team}/${channel}`, {
      ...{ team, channel, state, message: null, nowMs: 0, mark: { version: '', due: '' } },
    })
    due.push({ team, channel })
    return { name: channel, type, alertTypes: ['failure'], url: null }
  })
  teams.set(team, { ...NO_TEAM_SETTINGS, version, channels })
  notified = [...teams.keys()]
}

function newNotifier(): Notifier {
  const board: NotificationBoard = {
    due: () => Promise.resolve({ raised: [], channels: due }),
    forward: () => Promise.resolve(),
    prepare: async (team, { version, channels }) => {
      await preparing()
      prepared.push([team, version, channels])
    },
    look: (ref) => Promise.resolve(looks.get(nameOf(ref)) ?? null),
    totals: () => Promise.resolve({ totals: [], shards: new Set() }),
    alerts: () => Promise.resolve(new Map()),
    write: (look, { state, message }) => {
      looks.set(nameOf(look), { ...look, state, message })
      return Promise.resolve(true)
    },
    report: (look, { state, message }) => {
      looks.set(nameOf(look), { ...look, state, message })
      due = due.filter((ref) => nameOf(ref) !== nameOf(look))
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
    logger: quietLogger,
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
    ...['other-slack0', 'other-email1'],
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
  const taken = ['a', 'b', 'c', 'd'].map((team) => places.take('slack', team))
  assert.deepEqual(
    taken.slice(0, 3).map((place) => place?.noteTroubled()),
    [true, true, false],
  )
  assert.equal(places.take('slack', 'e'), null)
  taken[0]?.release()
  assert.equal(places.take('slack', 'e')?.noteTroubled(), true)
})
