import { expect, test } from 'vitest'
import { isScanDue } from '../../../../../src/redis/watch/limit-warnings/scan-position.ts'

test.each([
  { at: 'of the minute itself', minute: 100, isDue: false },
  { at: 'by a clock that is a little behind', minute: 99, isDue: false },
  { at: 'of a minute later', minute: 101, isDue: true },
  { at: 'by a clock that was set back', minute: 98, isDue: true },
])('a scan $at is due: $isDue', ({ minute, isDue }) => {
  const position = { inFlight: 0, failing: 0, expiring: 0, standing: '0', team: '' }
  expect(isScanDue({ minute: 100, position, text: '' }, minute)).toBe(isDue)
})
