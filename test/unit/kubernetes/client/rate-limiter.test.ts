import { expect, test } from 'vitest'
import { REQUEST_TIMEOUT_MS } from '../../../../src/kubernetes/client/bounds.ts'
import { createRateLimiter } from '../../../../src/kubernetes/client/rate-limiter.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'

const { signal } = new AbortController()

test('a burst goes at once, the rest at the rate, and the burst comes back with time', async () => {
  const clock = createFakeClock()
  const bucket = createRateLimiter(clock, { perSecond: 10, burst: 3 })
  let gone = 0
  const take = (count: number) => {
    for (let i = 0; i < count; i += 1) void bucket.take(signal).then(() => (gone += 1))
  }
  take(5)
  await clock.advance(99)
  expect(gone).toBe(3)
  await clock.advance(1)
  expect(gone).toBe(4)
  await clock.advance(100)
  expect(gone).toBe(5)
  await clock.advance(10_000)
  take(4)
  await clock.advance(0)
  expect(gone).toBe(8)
})

test('a request that could not go in time is refused and takes nothing', async () => {
  const clock = createFakeClock()
  const bucket = createRateLimiter(clock, { perSecond: 1, burst: 1 })
  let gone = 0
  for (let i = 0; i < 1 + REQUEST_TIMEOUT_MS / 1000; i += 1) void bucket.take(signal).then(() => (gone += 1))
  await expect(bucket.take(signal)).rejects.toMatchObject({ fault: 'too_many' })
  await expect(bucket.take(signal)).rejects.toMatchObject({ fault: 'too_many' })
  await clock.advance(REQUEST_TIMEOUT_MS)
  expect(gone).toBe(31)
})

test('one who is given up waits no longer', async () => {
  const clock = createFakeClock()
  const bucket = createRateLimiter(clock, { perSecond: 1, burst: 1 })
  const giveUp = new AbortController()
  await bucket.take(giveUp.signal)
  const waiting = bucket.take(giveUp.signal)
  expect(clock.timers).toBe(1)
  giveUp.abort()
  await waiting
  expect(clock.timers).toBe(0)
})
