import { expect, test } from 'vitest'
import { minutesAround } from '../../../../../src/redis/base/layout/keys.ts'

test('near a full minute both buckets are declared, as the estimate of Redis’s time may be off either way', () => {
  const minute = 29_000_000
  const fullMs = minute * 60_000
  expect(minutesAround(fullMs - 1_501)).toEqual([minute - 1])
  expect(minutesAround(fullMs - 1_500)).toEqual([minute - 1, minute])
  expect(minutesAround(fullMs + 1_499)).toEqual([minute - 1, minute])
  expect(minutesAround(fullMs + 1_500)).toEqual([minute])
})
