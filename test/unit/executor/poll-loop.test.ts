import { expect, test } from 'vitest'
import { PollLoop } from '../../../src/executor/poll-loop.ts'
import { createFakeClock, quiescence } from '../../support/fake-clock.ts'
import { latched } from '../../support/latched.ts'

/** A loop whose polls answer 1,000 ms. */
function setUp() {
  const clock = createFakeClock()
  const poll = latched<() => Promise<number>>(() => 1_000)
  class LatchedLoop extends PollLoop {
    protected override poll = poll
  }
  return { clock, poll, loop: new LatchedLoop(clock) }
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
