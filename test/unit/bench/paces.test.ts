import { expect, test } from 'vitest'
import { pacesOf } from '../../../bench/load/paces.ts'

test('the equal rate is half of what the slowest does, and the least of the own ones', () => {
  const rates = new Map([
    ['punctual', 10_399.6],
    ['quirrel', 2_763],
    ['bullmq', 6_048],
  ])
  expect(pacesOf(rates)).toEqual({
    own: { punctual: 5_199, quirrel: 1_381, bullmq: 3_024 },
    equal: 1_381,
    slowest: 'quirrel',
  })
})

test('a rate is never zero, and there is none without contenders', () => {
  expect(pacesOf(new Map([['celery', 0.7]]))).toEqual({ own: { celery: 1 }, equal: 1, slowest: 'celery' })
  expect(pacesOf(new Map())).toBeNull()
})
