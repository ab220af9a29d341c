import { expect, test } from 'vitest'
import { RateLimiter } from '../../../../src/kubernetes/client/rate-limiter.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'

const { signal } = new AbortController()

test('a burst goes at once, the rest at the rate, and the burst comes back with time', async () => {
  const clock = createFakeClock()
  const limiter = new RateLimiter(clock, { perSecond: 10, burst: 3, waitMsMax: 30_000 })
  let sent = 0
  const take = (count: number) => {
    for (let i = 0; i < count; i += 1) void limiter.wait(signal).then(() => (sent += 1))
  }
  take(5)
  await clock.advance(99)
  expect(sent).toBe(3)
  await clock.advance(1)
  expect(sent).toBe(4)
  await clock.advance(100)
  expect(sent).toBe(5)
  await clock.advance(10_000)
  take(4)
  await clock.advance(0)
  expect(sent).toBe(8)
})

test('a request that could not go in time is refused and takes nothing', async () => {
  const clock = createFakeClock()
  const limiter = new RateLimiter(clock, { perSecond: 1, burst: 1, waitMsMax: 30_000 })
  let sent = 0
  for (let i = 0; i < 31; i += 1) void limiter.wait(signal).then(() => (sent += 1))
  await expect(limiter.wait(signal)).rejects.toMatchObject({ fault: 'too_many' })
  await expect(limiter.wait(signal)).rejects.toMatchObject({ fault: 'too_many' })
  await clock.advance(30_000)
  expect(sent).toBe(31)
})

test('a canceled request waits no longer', async () => {
  const clock = createFakeClock()
  const limiter = new RateLimiter(clock, { perSecond: 1, burst: 1, waitMsMax: 30_000 })
  const giveUp = new AbortController()
  await limiter.wait(giveUp.signal)
  const waiting = limiter.wait(giveUp.signal)
  expect(clock.timers).toBe(1)
  giveUp.abort()
  await waiting
  expect(clock.timers).toBe(0)
})
