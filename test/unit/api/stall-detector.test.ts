import { expect, test } from 'vitest'
import { StallDetector } from '../../../src/api/stall-detector.ts'
import { createFakeClock } from '../../support/fake-clock.ts'

function aBody() {
  const body = { receivedBytes: 0, isStalled: false, onStalled: () => void (body.isStalled = true) }
  return body
}

/** Looks until the body is given up, of which so many bytes come before each. */
async function looksUntilStalled(bytesPerLook: number): Promise<number | null> {
  const clock = createFakeClock()
  const body = aBody()
  new StallDetector(clock).add(body)
  for (let look = 1; look <= 40; look += 1) {
    body.receivedBytes += bytesPerLook
    await clock.advance(1_000)
    if (body.isStalled) return look
  }
  return null
}

test('a body of which nothing comes is given up after 5 s', async () => {
  expect(await looksUntilStalled(0)).toBe(5)
})

test('a byte a second is no progress', async () => {
  expect(await looksUntilStalled(1)).toBe(6)
})

test('a mebibyte in half a minute is', async () => {
  expect(await looksUntilStalled((1024 * 1024) / 30)).toBe(null)
})

test('a body that pauses for less, again and again, lives by what it sends', async () => {
  const clock = createFakeClock()
  const body = aBody()
  new StallDetector(clock).add(body)
  for (let round = 0; round < 5; round += 1) {
    await clock.advance(4_000)
    body.receivedBytes += 5 * 32 * 1024
    await clock.advance(1_000)
  }
  expect(body.isStalled).toBe(false)
})

test('a body that we do not read is not blamed, and its time goes on when we do', async () => {
  const clock = createFakeClock()
  const body = { ...aBody(), isPaused: true }
  body.onStalled = () => void (body.isStalled = true)
  new StallDetector(clock).add(body)
  await clock.advance(60_000)
  expect(body.isStalled).toBe(false)
  body.isPaused = false
  await clock.advance(4_000)
  expect(body.isStalled).toBe(false)
  await clock.advance(1_000)
  expect(body.isStalled).toBe(true)
})

test('each body has its own time, and one that ended is not looked at', async () => {
  const clock = createFakeClock()
  const watch = new StallDetector(clock)
  const [early, late, ended] = [aBody(), aBody(), aBody()]
  watch.add(early)
  const watchedEnd = watch.add(ended)
  await clock.advance(3_000)
  watch.add(late)
  watch.remove(watchedEnd)
  await clock.advance(2_000)
  expect([early.isStalled, late.isStalled]).toEqual([true, false])
  await clock.advance(3_000)
  expect([late.isStalled, ended.isStalled]).toEqual([true, false])
})

test('without bodies there is no timer', async () => {
  const clock = createFakeClock()
  const watch = new StallDetector(clock)
  expect(clock.timers).toBe(0)
  const body = aBody()
  for (let round = 0; round < 2; round += 1) {
    const watched = watch.add(body)
    watch.add(aBody())
    expect(clock.timers).toBe(1)
    watch.remove(watched)
    await clock.advance(6_000)
    expect(clock.timers).toBe(0)
  }
})
