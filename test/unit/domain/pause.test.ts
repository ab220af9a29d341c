import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { pause } from '../../../src/domain/pause.ts'
import { createFakeClock, quiescence } from '../../support/fake-clock.ts'

function begin(signal?: AbortSignal) {
  const clock = createFakeClock()
  let isOver = false
  void pause(clock, 100, signal).then(() => (isOver = true))
  return { clock, isOver: () => isOver }
}

test('lasts as long as it is to', async () => {
  const { clock, isOver } = begin()
  await clock.advance(99)
  expect(isOver()).toBe(false)
  await clock.advance(1)
  expect(isOver()).toBe(true)
})

test('ends with the signal, and leaves no timer', async () => {
  const over = new AbortController()
  const { clock, isOver } = begin(over.signal)
  over.abort()
  await quiescence()
  expect(isOver()).toBe(true)
  expect(clock.timers).toBe(0)
})

test('does not begin when the signal has aborted', async () => {
  const { clock, isOver } = begin(AbortSignal.abort())
  await quiescence()
  expect(isOver()).toBe(true)
  expect(clock.timers).toBe(0)
})

test('leaves no listener on a signal that lives on', async () => {
  const { signal } = new AbortController()
  const { clock } = begin(signal)
  await clock.advance(100)
  expect(getEventListeners(signal, 'abort')).toEqual([])
})
