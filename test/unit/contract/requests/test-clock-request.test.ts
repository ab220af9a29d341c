import { expect, test } from 'vitest'
import { readTestClockMove } from '../../../../src/contract/requests/test-clock-request.ts'
import { TEST_CLOCK_ADVANCE_SECONDS_MAX, TEST_CLOCK_MS_MAX } from '../../../../src/domain/limits.ts'

const NOW_MS = Date.UTC(2026, 10, 30, 9)
const read = (body: object, nowMs = NOW_MS) => readTestClockMove(Buffer.from(JSON.stringify(body)), nowMs)

test.each([
  [{ advance_seconds: 1 }, { byMs: 1000 }],
  [{ advance_seconds: TEST_CLOCK_ADVANCE_SECONDS_MAX }, { byMs: TEST_CLOCK_ADVANCE_SECONDS_MAX * 1000 }],
  [{ advance_to: '2026-11-30T09:00:00Z' }, { toMs: NOW_MS }],
  [{ advance_to: '2026-12-01T10:00:00+01:00' }, { toMs: NOW_MS + 86_400_000 }],
])('%j is a move', (body, value) => {
  expect(read(body)).toMatchObject({ kind: 'valid', value })
})

test.each([
  [{}, 'advance_seconds', /or advance_to must be given, and only one of them/],
  [{ advance_seconds: 1, advance_to: '2026-12-01T00:00:00Z' }, 'advance_seconds', /only one of them/],
  [{ advance_seconds: 0 }, 'advance_seconds', /between 1 and 31622400/],
  [{ advance_seconds: TEST_CLOCK_ADVANCE_SECONDS_MAX + 1 }, 'advance_seconds', /between 1 and 31622400/],
  [{ advance_seconds: 1.5 }, 'advance_seconds', /an integer/],
  [{ advance_to: '2026-11-30T08:59:59.999Z' }, 'advance_to', /not be before 2026-11-30T09:00:00.000Z/],
  [{ advance_to: '2027-12-01T09:00:00.001Z' }, 'advance_to', /not be more than 31622400 seconds ahead/],
  [{ advance_to: 'tomorrow' }, 'advance_to', /ISO 8601/],
  [{ forward: 1 }, 'forward', /unknown/],
])('%j is refused', (body, field, text) => {
  expect(read(body)).toMatchObject({
    kind: 'invalid',
    problem: { errors: { [field]: [expect.stringMatching(text)] } },
  })
})

test.each([
  ['advance_seconds', { advance_seconds: 2 }],
  ['advance_to', { advance_to: new Date(TEST_CLOCK_MS_MAX + 1).toISOString() }],
])('no move leads beyond the last time (%s)', (field, body) => {
  expect(read(body, TEST_CLOCK_MS_MAX - 1000)).toMatchObject({
    problem: { errors: { [field]: [expect.stringContaining('beyond 2200-01-01')] } },
  })
  expect(read({ advance_seconds: 1 }, TEST_CLOCK_MS_MAX - 1000)).toMatchObject({ kind: 'valid' })
})
