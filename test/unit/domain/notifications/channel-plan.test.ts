import assert from 'node:assert/strict'
import { test } from 'vitest'
import type { AlertType } from '../../../../src/domain/alerts/alert.ts'
import { endTry, PARTIAL_TRIES_MAX } from '../../../../src/domain/notifications/delivery-end.ts'
import { ChannelStage, failed, MINUTE, SECOND, SENT } from './channel-stage.ts'

test('tells 10,000 failures of a minute in at most four messages of the first 15 minutes, each counted', () => {
  const stage = new ChannelStage()
  for (let i = 0; i < 200; i += 1) {
    stage.raise('queue|7', { count: 50 })
    stage.raise('queue|7', { type: 'warning', count: 50 })
    stage.advance(300)
  }
  stage.advance(15 * MINUTE - stage.nowMs + 1_800_000_000_000)
  assert.deepEqual(stage.times, [0, MINUTE])
  assert.equal(stage.told, 10_000)
})

test('tells trouble that goes on after 1, 5 and 15 minutes, then every 15', () => {
  const stage = new ChannelStage()
  const raised = 50 * 60
  for (let i = 0; i < raised; i += 1) {
    stage.raise('queue|7')
    stage.advance(SECOND)
  }
  assert.deepEqual(
    stage.times,
    [0, 1, 5, 15, 30, 45].map((minutes) => minutes * MINUTE),
  )
  const [first, second] = stage.messages
  assert.equal(first?.entries[0]?.isReply, false)
  assert.deepEqual(
    stage.messages.slice(1).map(({ entries }) => entries.map(({ isReply }) => isReply)),
    [[true], [true], [true], [true], [true]],
  )
  assert.equal(second?.entries[0]?.threadId, first?.entries[0]?.threadId)
  stage.advance(15 * MINUTE)
  assert.equal(stage.told, raised)
})

test('begins anew when nothing was raised for 15 minutes', () => {
  const stage = new ChannelStage()
  stage.raise('queue|7')
  stage.advance(14 * MINUTE)
  stage.raise('queue|7')
  assert.equal(stage.messages.length, 2)
  assert.equal(stage.messages[1]?.entries[0]?.isReply, true)
  stage.advance(15 * MINUTE)
  stage.raise('queue|7')
  assert.equal(stage.messages.length, 3)
  assert.equal(stage.messages[2]?.entries[0]?.isReply, false)
})

test('goes on with a thread whose digest comes a whole interval after the last message', () => {
  const stage = new ChannelStage()
  for (let i = 0; i <= 15; i += 1) {
    stage.raise('queue|7')
    stage.advance(MINUTE)
  }
  stage.advance(4 * MINUTE)
  stage.raise('queue|7')
  stage.advance(10 * MINUTE)
  assert.deepEqual(
    stage.times,
    [0, 1, 5, 15, 30].map((minutes) => minutes * MINUTE),
  )
  assert.equal(stage.messages.at(-1)?.entries[0]?.isReply, true)
})

test('tells a recovery at once, with what is owed, and closes the thread', () => {
  const stage = new ChannelStage()
  stage.raise('cron|7')
  stage.advance(10 * SECOND)
  stage.raise('cron|7')
  stage.advance(10 * SECOND)
  stage.raise('cron|7', { type: 'recovery' })
  assert.deepEqual(stage.times, [0, 20 * SECOND])
  const told = stage.messages[1]?.entries.map(({ total, count, isReply }) => [total.type, count, isReply])
  assert.deepEqual(told, [
    ['failure', 1, true],
    ['recovery', 1, true],
  ])
  stage.advance(10 * SECOND)
  stage.raise('cron|7')
  assert.equal(stage.messages[2]?.entries[0]?.isReply, false)
})

test('tells only the types of the channel, and no history of a type that is added', () => {
  const stage = new ChannelStage({ alertTypes: ['failure'] })
  stage.raise('queue|7', { type: 'warning', count: 5 })
  stage.advance(MINUTE)
  assert.equal(stage.messages.length, 0)
  const wider = new ChannelStage({ alertTypes: ['failure', 'warning'] })
  wider.state = stage.state
  wider.raise('queue|7', { type: 'warning', count: 5 })
  assert.equal(wider.told, 0)
  wider.raise('queue|7', { type: 'warning' })
  assert.equal(wider.told, 1)
})

test('sends a new channel nothing of what was raised before', () => {
  const stage = new ChannelStage({ alertTypes: ['failure'] })
  stage.answer = () => null
  stage.raise('queue|7', { count: 9 })
  stage.startHere()
  stage.messages.length = 0
  stage.raise('queue|7')
  assert.equal(stage.told, 1)
})

test('counts a fingerprint that was made anew from its beginning', () => {
  const stage = new ChannelStage()
  stage.raise('queue|7', { count: 5 })
  stage.raise('queue|7', { count: 3, born: 2 })
  stage.advance(MINUTE)
  assert.equal(stage.told, 8)
})

test('sends one message a minute when more than five would go out', () => {
  const stage = new ChannelStage()
  for (let i = 0; i < 120; i += 1) {
    stage.raise(`queue|${i}`)
    stage.advance(500)
  }
  stage.advance(30 * MINUTE)
  const inFirst = stage.times.filter((atMs) => atMs < MINUTE)
  assert.equal(inFirst.length, 5)
  assert.equal(stage.told, 120)
  for (const atMs of stage.times.slice(5)) {
    assert.ok(stage.times.filter((other) => atMs <= other && other < atMs + MINUTE).length <= 5)
  }
  assert.ok(stage.messages.length <= 10, String(stage.messages.length))
})

test('tries again after 5 s, 30 s, 2 and 10 minutes, with the same message, then gives up and counts it as told', () => {
  const stage = new ChannelStage()
  stage.answer = () => failed()
  stage.raise('queue|7', { count: 3 })
  stage.advance(20 * MINUTE)
  assert.deepEqual(
    stage.times,
    [0, 5, 35, 155, 755].map((seconds) => seconds * SECOND),
  )
  assert.equal(new Set(stage.messages.map(({ id }) => id)).size, 1)
  assert.deepEqual(
    stage.log.map(({ state, tries, ranges }) => [state, tries, ranges]),
    [['failed', 5, { '0/failure|timeout|queue|7': [1, 0, 3] }]],
  )
  assert.equal(stage.dueMs, null)
})

test('tries a channel that fails once in 10 minutes, and as before when it works again', () => {
  const stage = new ChannelStage()
  stage.answer = () => failed({ isFinal: true })
  for (let i = 0; i < 39; i += 1) {
    stage.raise(`queue|${i}`)
    stage.advance(MINUTE)
  }
  assert.equal(stage.messages.length, 4)
  assert.equal(stage.log.length, 4)
  assert.equal(stage.told, 30)
  stage.answer = () => ({ kind: 'sent', answer: 'ok' })
  stage.advance(10 * MINUTE)
  assert.equal(stage.state.failingSinceMs, null)
  assert.equal(stage.told, 39)
})

test('takes a message that some members have for sent, once the others were refused', () => {
  const stage = new ChannelStage({ type: 'email' })
  stage.answer = () => failed({ isFinal: true, accepted: ['ada@example.com'] })
  stage.raise('queue|1')
  stage.advance(10 * SECOND)
  stage.raise('queue|2')
  stage.advance(10 * SECOND)
  assert.deepEqual(stage.times, [0, 10 * SECOND])
  assert.deepEqual(
    stage.log.map(({ state }) => state),
    ['sent', 'sent'],
  )
  assert.equal(stage.state.failingSinceMs, null)
})

test('does not let a full mailbox hold up the next message for long', () => {
  const stage = new ChannelStage({ type: 'email' })
  let tries = 0
  stage.answer = () => failed({ accepted: (tries += 1) === 1 ? ['ada@example.com'] : [] })
  stage.raise('queue|1')
  stage.advance(5 * MINUTE)
  assert.equal(tries, PARTIAL_TRIES_MAX)
  assert.equal(stage.log[0]?.state, 'sent')
  assert.equal(stage.state.failingSinceMs, null)
})

test('tries a failing channel at once after an edit of the settings', () => {
  const stage = new ChannelStage()
  stage.answer = () => failed({ isFinal: true })
  stage.raise('queue|7')
  stage.settingsVersion = 2
  stage.raise('queue|8')
  assert.equal(stage.messages.length, 2)
})

test('waits as long as the service asks, within 10 minutes', () => {
  const stage = new ChannelStage()
  stage.answer = () => failed({ retryAfterMs: 20 * SECOND })
  stage.raise('queue|7')
  stage.advance(19 * SECOND)
  assert.equal(stage.messages.length, 1)
  stage.answer = () => failed({ retryAfterMs: 3_600 * SECOND })
  stage.advance(SECOND)
  assert.equal(stage.messages.length, 2)
  stage.advance(10 * MINUTE)
  assert.equal(stage.messages.length, 3)
})

test('sends a message again under its id when its executor dies, and gives up when each one dies', () => {
  const stage = new ChannelStage()
  stage.answer = () => null
  stage.raise('queue|7')
  stage.advance(14 * SECOND)
  assert.equal(stage.messages.length, 1)
  stage.advance(SECOND)
  assert.equal(stage.messages[1]?.id, stage.messages[0]?.id)
  stage.advance(10 * MINUTE)
  assert.equal(stage.messages.length, 5)
  assert.equal(stage.log[0]?.state, 'failed')
})

test.each([
  ['slack', 60],
  ['discord', 25],
] as const)('sends %s at most %i messages a minute', (type, most) => {
  const stage = new ChannelStage({ type, alertTypes: ['failure', 'recovery'] })
  for (let i = 0; i < 60; i += 1) {
    stage.raise(`cron|${i}`)
    stage.raise(`cron|${i}`, { type: 'recovery' })
    stage.advance(1_000)
  }
  assert.ok(stage.messages.length <= Math.min(most, 6))
  const gaps = stage.times.slice(1).map((atMs, i) => atMs - (stage.times[i] ?? 0))
  assert.ok(Math.min(...gaps) >= MINUTE / most)
})

test.each([SENT, failed(), null])(
  'goes on when the clock of Redis is set back by a day, after %j',
  (answer) => {
    const stage = new ChannelStage()
    stage.answer = () => answer
    stage.raise('queue|7')
    stage.nowMs -= 24 * 60 * MINUTE
    stage.answer = () => SENT
    stage.raise('queue|7')
    stage.advance(2 * SECOND)
    stage.raise('queue|8')
    stage.advance(15 * MINUTE)
    assert.equal(stage.told, 3)
  },
)

test('floods nobody with digests when the clock is set back while trouble goes on', () => {
  const stage = new ChannelStage()
  stage.raise('queue|7')
  stage.advance(2 * MINUTE)
  stage.nowMs -= 60 * MINUTE
  const before = stage.messages.length
  for (let i = 0; i < 15 * 60; i += 1) {
    stage.raise('queue|7')
    stage.advance(SECOND)
  }
  assert.ok(stage.messages.length - before <= 4, `${stage.messages.length - before} messages`)
})

test('a failing channel works again with the first mails that get through, and goes on to the other members', () => {
  const stage = new ChannelStage({ type: 'email' })
  stage.answer = () => failed({ isFinal: true })
  stage.raise('queue|1')
  stage.answer = () => failed({ accepted: ['ada@example.com'] })
  stage.raise('queue|2')
  stage.advance(10 * MINUTE)
  assert.deepEqual(stage.state.delivery?.accepted, ['ada@example.com'])
  stage.answer = () => SENT
  stage.advance(5 * SECOND)
  assert.equal(stage.state.failingSinceMs, null)
})

test('a message that was cut short knows who has it', () => {
  const stage = new ChannelStage({ type: 'email' })
  stage.answer = () => null
  stage.raise('queue|1')
  const { delivery } = stage.state
  assert.ok(delivery !== null)
  const result = { kind: 'aborted', accepted: ['ada@example.com'] } as const
  const end = endTry(stage.state, delivery, { result, nowMs: stage.nowMs })
  assert.deepEqual(end?.state.delivery?.accepted, ['ada@example.com'])
})

test('refuses the result of a try that another has taken over', () => {
  const stage = new ChannelStage()
  stage.answer = () => null
  stage.raise('queue|7')
  const { delivery } = stage.state
  stage.advance(15 * SECOND)
  assert.equal(stage.state.delivery?.tries, 2)
  assert.ok(delivery !== null)
  const late = { result: failed(), nowMs: stage.nowMs }
  assert.equal(endTry(stage.state, delivery, late), null)
})

const EVERY: AlertType[] = ['warning', 'limit_warning', 'failure', 'recovery']

test.each([
  ['warning', 'failure'],
  ['warning', 'limit_warning'],
  ['limit_warning', 'failure'],
] as const)(
  'tells at once when trouble told as a %s becomes a %s, and each severity so only once',
  (less, more) => {
    const stage = new ChannelStage({ alertTypes: EVERY })
    stage.raise('queue|7', { type: less })
    stage.advance(10 * SECOND)
    stage.raise('queue|7', { type: less })
    stage.advance(10 * SECOND)
    stage.raise('queue|7', { type: more })
    assert.deepEqual(stage.times, [0, 20 * SECOND])
    const [, second] = stage.messages
    assert.deepEqual(
      second?.entries.map(({ total, count, isReply }) => [total.type, count, isReply]),
      [
        [more, 1, true],
        [less, 1, true],
      ],
    )
    // What follows is no worse than what was told: it waits for the digests.
    for (let i = 0; i < 20; i += 1) {
      stage.raise('queue|7', { type: i % 2 === 0 ? less : more })
      stage.advance(SECOND)
    }
    stage.advance(MINUTE)
    assert.deepEqual(stage.times, [0, 20 * SECOND, MINUTE])
    assert.equal(stage.told, 23)
  },
)

test('tells a first failure at once also where the next digest is a quarter of an hour away', () => {
  const stage = new ChannelStage({ alertTypes: EVERY })
  for (let i = 0; i < 20; i += 1) {
    stage.raise('queue|7', { type: 'warning' })
    stage.advance(MINUTE)
  }
  const before = stage.messages.length
  stage.raise('queue|7')
  assert.equal(stage.messages.length, before + 1)
  assert.deepEqual(stage.times.at(-1), 20 * MINUTE)
})

test('tells the first failure at once although warnings of others have used their share of the minute', () => {
  const stage = new ChannelStage({ alertTypes: EVERY })
  for (let i = 0; i < 20; i += 1) {
    stage.raise(`queue|${i}`, { type: 'warning' })
    stage.advance(SECOND)
  }
  assert.deepEqual(
    stage.times,
    [0, 1, 2, 3].map((seconds) => seconds * SECOND),
  )
  stage.raise('queue|7')
  assert.equal(stage.times.at(-1), 20 * SECOND)
  assert.equal(stage.messages.at(-1)?.entries[0]?.total.type, 'failure')
  stage.advance(SECOND)
  // The place for a failure is taken: the next one waits for the digest of all.
  stage.raise('queue|8')
  stage.advance(MINUTE)
  assert.equal(stage.told, 22)
  assert.deepEqual(stage.times.slice(4), [20 * SECOND, 80 * SECOND])
})

test('remembers what the trouble was told as over its digests, and forgets it with its end', () => {
  const stage = new ChannelStage({ alertTypes: EVERY })
  stage.raise('queue|7')
  stage.advance(30 * SECOND)
  stage.raise('queue|7', { type: 'warning' })
  stage.advance(40 * SECOND)
  stage.raise('queue|7')
  assert.deepEqual(stage.times, [0, MINUTE])
  stage.advance(30 * MINUTE)
  stage.raise('queue|7', { type: 'warning' })
  stage.advance(SECOND)
  stage.raise('queue|7')
  assert.equal(stage.messages.length, 5)
})

test('tells one message a minute while failures of ever more queues are gathered', () => {
  const stage = new ChannelStage({ alertTypes: EVERY })
  for (let i = 0; i < 600; i += 1) {
    stage.raise(`queue|${i}`)
    stage.advance(500)
  }
  const gathered = stage.times.filter((atMs) => atMs >= MINUTE)
  assert.deepEqual(
    gathered.map((atMs) => Math.floor(atMs / MINUTE)),
    [1, 2, 3, 4],
  )
})

test.each([2, 30])('keeps to five messages a minute however the severity of %i queues flaps', (queues) => {
  const stage = new ChannelStage({ alertTypes: EVERY })
  for (let i = 0; i < 1_200; i += 1) {
    const type = (['warning', 'failure', 'limit_warning', 'recovery'] as const)[(i * 7 + (i >> 3)) % 4]
    stage.raise(`queue|${i % queues}`, { type: type ?? 'warning' })
    stage.advance(500)
  }
  stage.advance(16 * MINUTE)
  assert.equal(stage.told, 1_200)
  for (const atMs of stage.times) {
    const within = stage.times.filter((other) => atMs <= other && other < atMs + MINUTE)
    assert.ok(within.length <= 5, `${within.length} messages in the minute from ${atMs}`)
  }
})
