import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  SHED_PLACES_MIN,
  SHED_TARGET_MS,
  SHED_WINDOW_MS,
  ShedLimit,
} from '../../../../src/domain/shares/shed-limit.ts'

const LONG_MS = 2 * SHED_TARGET_MS

/** A limit, and the time by which it goes on. */
function open() {
  const limit = new ShedLimit(0)
  let nowMs = 0
  return {
    limit,
    /** Windows in each of which the loop was measured once. */
    pass: (windows: number, delayMs: number) => {
      for (let i = 0; i < windows; i += 1) limit.waited('loop', delayMs, (nowMs += SHED_WINDOW_MS))
    },
    pause: (ms: number) => limit.begin((nowMs += ms)),
    note: (where: 'loop' | 'list', delayMs: number) => limit.waited(where, delayMs, nowMs),
  }
}

/** Takes places until one is refused; answers how many there were. */
function fill(limit: ShedLimit, team: string, most = 10_000): number {
  for (let taken = 0; taken < most; taken += 1) if (!limit.enter(team, 1)) return taken
  return most
}

test('nobody is refused while the delay is below the target, however much is under way', () => {
  const delays = fc.array(fc.tuple(fc.nat(SHED_TARGET_MS), fc.nat(SHED_WINDOW_MS), fc.nat(100)))
  fc.assert(
    fc.property(delays, (story) => {
      const limit = new ShedLimit(0)
      let nowMs = 0
      for (const [delayMs, passedMs, pushes] of story) {
        nowMs += passedMs
        limit.waited('loop', delayMs, nowMs)
        expect([limit.isShedding, fill(limit, 'a', pushes)]).toEqual([false, pushes])
      }
    }),
  )
})

test('one long window is a burst, and so is a short delay in each', () => {
  const { limit, pass, note } = open()
  pass(1, 500)
  pass(1, 0)
  for (let window = 0; window < 10; window += 1) {
    note('loop', 1)
    pass(1, 500)
  }
  expect(limit.isShedding).toBe(false)
  pass(2, LONG_MS)
  expect(limit.isShedding).toBe(true)
})

test('waiting for the loop and in the list add up', () => {
  const { limit, pass, note } = open()
  for (let window = 0; window < 2; window += 1) {
    note('list', SHED_TARGET_MS - 1)
    pass(1, 2)
  }
  expect(limit.isShedding).toBe(true)
})

test('places become fewer while delays are long, by how long they are, and never fewer than some', () => {
  const placesAfter = (windows: number, delayMs: number) => {
    const { limit, pass } = open()
    fill(limit, 'a')
    pass(windows, delayMs)
    for (let i = 0; i < 10_000; i += 1) limit.leave('a', 1)
    return fill(limit, 'a')
  }
  expect(placesAfter(2, 10 * SHED_TARGET_MS)).toBe(5_000)
  expect(placesAfter(2, 1.25 * SHED_TARGET_MS)).toBe(8_000)
  expect(placesAfter(50, 10 * SHED_TARGET_MS)).toBe(SHED_PLACES_MIN)
})

test('two teams fight with all places taken: who has no more than an equal part is not refused', () => {
  const { limit, pass } = open()
  fill(limit, 'greedy')
  pass(20, LONG_MS)
  expect(limit.enter('greedy', 1)).toBe(false)
  expect(fill(limit, 'late')).toBe(SHED_PLACES_MIN / 2)
  for (let i = 0; i < 10_000 - SHED_PLACES_MIN / 2; i += 1) limit.leave('greedy', 1)
  expect([limit.enter('late', 1), limit.enter('greedy', 1)]).toEqual([false, false])
  limit.leave('greedy', 1)
  expect([limit.enter('late', 1), limit.enter('greedy', 1)]).toEqual([false, true])
  expect(limit.enter('third', 1)).toBe(true)
})

test('long windows before and after a pause are not in a row', () => {
  const { limit, pass, pause } = open()
  for (let round = 0; round < 5; round += 1) {
    pass(1, LONG_MS)
    pause(1_000)
  }
  expect(limit.isShedding).toBe(false)
})

test('the limit is lifted a second after the last refusal', () => {
  const { limit, pass } = open()
  pass(2, LONG_MS)
  fill(limit, 'a')
  pass(1, 0)
  pass(9, 0)
  expect(limit.isShedding).toBe(true)
  pass(1, 0)
  expect(limit.isShedding).toBe(false)
})

test('refusals keep the limit, which grows while delays are short', () => {
  const { limit, pass } = open()
  pass(2, LONG_MS)
  let places = fill(limit, 'a')
  for (let round = 0; round < 30; round += 1) {
    pass(1, 0)
    expect(limit.isShedding).toBe(true)
    places += fill(limit, 'a')
  }
  expect(places).toBeGreaterThan(3 * SHED_PLACES_MIN)
})
