import { expect, test } from 'vitest'
import { retryAfter } from '../../../../src/executor/calls/retry-after.ts'

/** Sun, 06 Nov 1994 08:49:37 GMT. */
const NOW_MS = Date.UTC(1994, 10, 6, 8, 49, 37)

test.each([
  ['120', 120_000],
  [' 7 ', 7_000],
  ['0', null],
  ['86400', 86_400_000],
  ['86401', 86_400_000],
  ['999999999999999999999', 86_400_000],
  ['1.5', null],
  ['-3', null],
  ['1994-11-06T09:00:00Z', null],
  ['5 minutes', null],
  ['', null],
  ['Sun, 06 Nov 1994 08:50:37 GMT', 60_000],
  ['Sunday, 06-Nov-94 08:50:37 GMT', 60_000],
  ['Sun Nov  6 08:50:37 1994', 60_000],
  ['Foo 5', null],
  ['May 1', null],
  ['Sun, 06 Nov 1994 08:49:37 GMT', null],
  ['Sat, 05 Nov 1994 08:49:37 GMT', null],
  ['Thu, 06 Nov 1997 08:49:37 GMT', 86_400_000],
  ['Sunday', null],
])('reads %j as %s ms', (value, ms) => {
  expect(retryAfter(value, NOW_MS)).toBe(ms)
})
