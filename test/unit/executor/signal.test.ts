import { expect, test } from 'vitest'
import { createSignal } from '../../../src/executor/signal.ts'
import { createFakeClock, quiescence } from '../../support/fake-clock.ts'

/** Whether the promise has resolved once all that can run has run. */
async function isResolved(promise: Promise<unknown>): Promise<boolean> {
  let resolved = false
  void promise.then(() => (resolved = true))
  await quiescence()
  return resolved
}

test('a waiter goes on at the next notify and leaves no timer behind', async () => {
  const clock = createFakeClock()
  const signal = createSignal(clock)
  const waiting = signal.wait(1_000)
  expect(await isResolved(waiting)).toBe(false)
  signal.notify()
  expect(await isResolved(waiting)).toBe(true)
  expect(clock.timers).toBe(0)
})

test('a waiter goes on at its timeout and not before', async () => {
  const clock = createFakeClock()
  const waiting = createSignal(clock).wait(1_000)
  await clock.advance(999)
  expect(await isResolved(waiting)).toBe(false)
  await clock.advance(1)
  expect(await isResolved(waiting)).toBe(true)
})

test('a notify that comes while nobody waits ends the next wait at once, and only that one', async () => {
  const signal = createSignal(createFakeClock())
  signal.notify()
  signal.notify()
  expect(await isResolved(signal.wait(1_000))).toBe(true)
  expect(await isResolved(signal.wait(1_000))).toBe(false)
})

test('a notify that woke a waiter is not remembered', async () => {
  const signal = createSignal(createFakeClock())
  const first = signal.wait(1_000)
  signal.notify()
  await first
  expect(await isResolved(signal.wait(1_000))).toBe(false)
})

test('a wait that timed out does not swallow the next notify', async () => {
  const clock = createFakeClock()
  const signal = createSignal(clock)
  const first = signal.wait(10)
  await clock.advance(10)
  await first
  signal.notify()
  expect(await isResolved(signal.wait(1_000))).toBe(true)
})
