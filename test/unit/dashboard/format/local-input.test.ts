import { expect, test } from 'vitest'
import { fromLocalInput, toLocalInput } from '../../../../dashboard/src/format/local-input.ts'

test.each([
  ['2026-11-23T02:30', 'UTC', '2026-11-23T02:30:00.000Z'],
  ['2026-11-23T02:30', 'Europe/Berlin', '2026-11-23T01:30:00.000Z'],
  ['2026-07-01T02:30', 'America/New_York', '2026-07-01T06:30:00.000Z'],
  ['2026-07-01T02:30', 'Asia/Kathmandu', '2026-06-30T20:45:00.000Z'],
  // The morning after the change of clocks.
  ['2026-03-29T04:00', 'Europe/Berlin', '2026-03-29T02:00:00.000Z'],
])('%s in %s is %s, and back', (value, zone, at) => {
  expect(fromLocalInput(value, zone)).toBe(at)
  expect(toLocalInput(Date.parse(at), zone)).toBe(value)
})

test('what is no time is none', () => {
  expect(fromLocalInput('', 'UTC')).toBe(null)
  expect(fromLocalInput('soon', 'UTC')).toBe(null)
  // As a field has it while its year is typed.
  expect(fromLocalInput('0202-11-23T14:05', 'Europe/Berlin')).toBe(null)
})
