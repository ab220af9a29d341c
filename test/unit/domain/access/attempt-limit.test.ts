import { expect, test } from 'vitest'
import { AttemptLimit } from '../../../../src/domain/access/attempt-limit.ts'

const limitOf = (keysMax = 100) => new AttemptLimit({ burst: 3, refillMs: 1_000, keysMax })

test('a burst passes, then one at a time', () => {
  const limit = limitOf()
  expect([1, 2, 3, 4].map(() => limit.take('a', 5_000))).toEqual([0, 0, 0, 1_000])
  expect(limit.take('a', 5_999)).toBe(1)
  expect(limit.take('a', 6_000)).toBe(0)
  expect(limit.take('a', 6_000)).toBe(1_000)
  expect(limit.take('b', 6_000)).toBe(0)
})

test('an attempt that succeeded is none', () => {
  const limit = limitOf()
  for (let i = 0; i < 10; i += 1) {
    expect(limit.take('a', 0)).toBe(0)
    limit.giveBack('a')
  }
  limit.giveBack('nobody')
  expect([1, 2, 3, 4].map(() => limit.take('a', 0))).toEqual([0, 0, 0, 1_000])
})

test('a burst is all there is after any rest', () => {
  const limit = limitOf()
  limit.take('a', 0)
  limit.giveBack('a')
  expect([1, 2, 3, 4].map(() => limit.take('a', 60_000))).toEqual([0, 0, 0, 1_000])
})

test('of more than it may remember, it forgets those that tried least', () => {
  const limit = limitOf(4)
  for (let i = 0; i < 3; i += 1) limit.take('greedy', 0)
  for (let i = 0; i < 2; i += 1) limit.take('eager', 0)
  for (let i = 0; i < 1_000; i += 1) limit.take(`name ${i}`, 0)
  expect([limit.take('greedy', 0), limit.take('eager', 0), limit.take('eager', 0)]).toEqual([1_000, 0, 1_000])
})

test('it remembers no more than it may', () => {
  const limit = limitOf(4)
  const keys = ['a', 'b', 'c', 'd', 'e', 'f']
  for (const key of keys) for (let i = 0; i < 3; i += 1) limit.take(key, 0)
  expect(keys.filter((key) => limit.take(key, 0) > 0).length).toBeLessThanOrEqual(4)
})
