import { expect, test } from 'vitest'
import { Places } from '../../../../src/api/bounds/places.ts'

test('one holder leaves places for others, and all of them have an end', () => {
  const places = new Places(4)
  expect([1, 2, 3, 4].map(() => places.take('greedy'))).toEqual([true, true, true, false])
  expect([places.take('other'), places.take('third')]).toEqual([true, false])
  places.leave('greedy')
  expect(places.take('third')).toBe(true)
  places.leave('other')
  expect([places.take('greedy'), places.take('greedy')]).toEqual([true, false])
})

test('the only place is anybody’s', () => {
  const places = new Places(1)
  expect([places.take('a'), places.take('b')]).toEqual([true, false])
  places.leave('a')
  expect(places.take('b')).toBe(true)
})
