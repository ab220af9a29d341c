import { expect, test } from 'vitest'
import { formatDuration } from '../../../../dashboard/src/format/times.ts'

test.each([
  [340.2, '340 ms'],
  [999.6, '1.0 s'],
  [4_249, '4.2 s'],
  [9_600, '10 s'],
  [59_400, '59 s'],
  [59_700, '1 min'],
  [200_000, '3 min 20 s'],
  [3_599_700, '1 h'],
  [18_120_000, '5 h 2 min'],
  [86_399_000, '1 d'],
  [1_051_200_000, '12 d 4 h'],
])('%d ms is %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text)
})
