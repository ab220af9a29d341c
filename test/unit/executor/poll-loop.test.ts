import { expect, test } from 'vitest'
import { PollLoop } from '../../../src/executor/poll-loop.ts'
import { createFakeClock, quiescence } from '../../support/fake-clock.ts'
import { latched } from '../../support/latched.ts'
import { loopsOf } from '../../support/loops.ts'
import { createRecordingLogger, REDIS_AWAY } from './executor-fixture.ts'

/** A loop whose polls answer 1,000 ms. */
function setUp() {
  const clock = createFakeClock()
  const poll = latched<() => Promise<number>>(() => 1_000)
  class LatchedLoop extends PollLoop {
    protected override poll = poll
  }
  const logger = createRecordingLogger()
  const iterations = loopsOf({ clock, logger }).of('promote', 3)
  return { clock, poll, logger, loop: new LatchedLoop({ clock, iterations, retryMs: 700 }) }
}

test('polls after the first delay, then whenever it has slept as long as the poll answered', async () => {
  const { clock, poll, loop } = setUp()
  loop.start(300)
  await clock.advance(299)
  expect(poll.calls).toHaveLength(0)
  await clock.advance(1)
  expect(poll.calls).toHaveLength(1)
  await clock.advance(999)
  expect(poll.calls).toHaveLength(1)
  await clock.advance(1)
  expect(poll.calls).toHaveLength(2)
})

test('polls again at once when a poll answers 0', async () => {
  const { poll, loop } = setUp()
  let left = 3
  poll.rule = () => ((left -= 1) > 0 ? 0 : 1_000)
  loop.start()
  await quiescence()
  expect(poll.calls).toHaveLength(3)
})

test('a wake ends the sleep and leaves no timer behind', async () => {
  const { clock, poll, loop } = setUp()
  loop.start()
  await quiescence()
  loop.wake()
  await quiescence()
  expect(poll.calls).toHaveLength(2)
  expect(clock.timers).toBe(1)
})

test('wakes during a poll skip the next sleep, and only that one', async () => {
  const { poll, loop } = setUp()
  poll.rule = null
  loop.start()
  await quiescence()
  loop.wake()
  loop.wake()
  poll.next.answer(1_000)
  await quiescence()
  expect(poll.calls).toHaveLength(2)
  poll.next.answer(1_000)
  await quiescence()
  expect(poll.calls).toHaveLength(2)
})

test('a wake that ended a sleep does not skip the next one', async () => {
  const { poll, loop } = setUp()
  loop.start()
  await quiescence()
  loop.wake()
  await quiescence()
  expect(poll.calls).toHaveLength(2)
})

test('stop waits for the poll in progress and begins no other', async () => {
  const { clock, poll, loop } = setUp()
  poll.rule = null
  loop.start()
  await quiescence()
  let isStopped = false
  const stopping = loop.stop().then(() => (isStopped = true))
  await quiescence()
  expect(isStopped).toBe(false)
  poll.next.answer(0)
  await stopping
  expect(poll.calls).toHaveLength(1)
  expect(clock.timers).toBe(0)
})

test('a loop that was stopped first does not poll', async () => {
  const { clock, poll, loop } = setUp()
  await loop.stop()
  loop.start(100)
  await clock.advance(100)
  expect(poll.calls).toHaveLength(0)
})

/** At which times it polled, in ms from the start. */
async function pollTimes({ clock, poll, loop }: ReturnType<typeof setUp>, forMs: number): Promise<number[]> {
  const times: number[] = []
  const startedAtMs = clock.monotonicMs()
  const { rule } = poll
  poll.rule = () => {
    times.push(clock.monotonicMs() - startedAtMs)
    return rule?.() ?? 0
  }
  loop.start()
  await clock.advance(forMs)
  return times
}

test('a poll that throws is followed by others, each pause twice as long, up to 30 s', async () => {
  const world = setUp()
  world.poll.rule = () => Promise.reject(new Error('a bad day'))
  const times = await pollTimes(world, 130_000)
  const pauses = times.slice(1).map((ms, i) => ms - (times[i] ?? 0))
  expect(pauses).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000])
  const told = world.logger.lines.filter(({ level }) => level === 'error').map(({ message }) => message)
  expect(told).toEqual([
    'A turn of a loop failed because of a defect',
    'A loop fails turn after turn because of a defect',
  ])
})

test('a poll that throws while Redis is away is retried after the same pause each time', async () => {
  const world = setUp()
  world.poll.rule = () => Promise.reject(REDIS_AWAY)
  expect(await pollTimes(world, 2_800)).toEqual([0, 700, 1_400, 2_100, 2_800])
})

test('a poll that throws in the same turn of the event loop is a failed one too', async () => {
  const world = setUp()
  world.poll.rule = () => {
    throw new Error('a bad day')
  }
  expect(await pollTimes(world, 800)).toEqual([0, 250, 750])
})

test('a success makes the next pause a short one again', async () => {
  const world = setUp()
  const polls = [false, false, true, false, true]
  world.poll.rule = () => (polls.shift() === false ? Promise.reject(new Error('a bad day')) : 1_000)
  expect(await pollTimes(world, 3_000)).toEqual([0, 250, 750, 1_750, 2_000, 3_000])
})

test('no wake cuts a pause after a failure short, nor skips it, and a later wake works', async () => {
  const world = setUp()
  const { clock, poll, loop } = world
  poll.rule = () => Promise.reject(new Error('a bad day'))
  loop.start()
  await quiescence()
  loop.wake()
  await clock.advance(249)
  expect(poll.calls).toHaveLength(1)
  poll.rule = () => 1_000
  await clock.advance(1)
  expect(poll.calls).toHaveLength(2)
  loop.wake()
  await quiescence()
  expect(poll.calls).toHaveLength(3)
})

test('a wake during a poll that fails does not skip its pause', async () => {
  const { clock, poll, loop } = setUp()
  poll.rule = null
  loop.start()
  await quiescence()
  loop.wake()
  poll.next.fail(new Error('a bad day'))
  await clock.advance(249)
  expect(poll.calls).toHaveLength(1)
})

test('stop ends a pause after a failure', async () => {
  const { clock, poll, loop } = setUp()
  poll.rule = () => Promise.reject(new Error('a bad day'))
  loop.start()
  await quiescence()
  await loop.stop()
  expect(clock.timers).toBe(0)
})
