import { expect, test } from 'vitest'
import { growthOf } from '../../faults/checker/flatness.ts'

const samples = (of: (at: number) => number, count = 40) => Array.from({ length: count }, (_, at) => of(at))

test('memory that grows after the first quarter is named', () => {
  expect(
    growthOf(
      'api',
      samples((at) => 100 + at),
    ),
  ).toBe('api has grown from 115 to 135')
})

test.each<[string, number[]]>([
  ['grows in the first quarter alone', samples((at) => Math.min(200, 100 + 10 * at))],
  ['is noisy', samples((at) => (at % 3 === 0 ? 130 : 100))],
  ['shrinks', samples((at) => 200 - at)],
  ['is seen too seldom to say', samples((at) => 100 + at, 30)],
])('memory that %s is not', (_what, of) => {
  expect(growthOf('api', of)).toBeNull()
})
