import { CommanderError } from 'commander'
import { expect, test } from 'vitest'
import { durationMs, givenSeconds, timeAhead, timeBack } from '../../../src/cli/given-time.ts'

const NOW_MS = Date.parse('2026-11-21T12:00:00Z')

test.each([
  ['45s', '2026-11-21T11:59:15.000Z', '2026-11-21T12:00:45.000Z'],
  ['15m', '2026-11-21T11:45:00.000Z', '2026-11-21T12:15:00.000Z'],
  ['1h', '2026-11-21T11:00:00.000Z', '2026-11-21T13:00:00.000Z'],
  ['7d', '2026-11-14T12:00:00.000Z', '2026-11-28T12:00:00.000Z'],
  ['3650d', '2016-11-23T12:00:00.000Z', '2036-11-18T12:00:00.000Z'],
])('the span %s leads back or ahead from now', (text, back, ahead) => {
  expect(timeBack('--after', text, NOW_MS)).toBe(back)
  expect(timeAhead('--until', text, NOW_MS)).toBe(ahead)
})

test.each(['2026-12-24T18:00:00+01:00', '2026-12-24T18:00Z', '2026-12-24t18:00:00.123456789z'])(
  'the time %s is sent as it is written',
  (text) => {
    expect(timeBack('--after', text, NOW_MS)).toBe(text)
    expect(timeAhead('--until', text, NOW_MS)).toBe(text)
  },
)

test('what is not given is nothing', () => {
  expect(timeBack('--after', undefined, NOW_MS)).toBeUndefined()
  expect(timeAhead('--until', undefined, NOW_MS)).toBeUndefined()
})

test.each(['', '1', '0h', '-1h', '1.5h', '1w', '1 h', 'yesterday', '2026-12-24', '2026-12-24T18:00:00'])(
  '%j is neither a time nor a span',
  (text) => {
    const says = `--after ${JSON.stringify(text)} is neither a time with an offset such as 2026-12-24T18:00:00+01:00 nor a span such as 15m, 1h or 7d`
    expect(() => timeBack('--after', text, NOW_MS)).toThrow(says)
    expect(() => timeAhead('--after', text, NOW_MS)).toThrow(CommanderError)
  },
)

test('no span leads further than ten years', () => {
  expect(() => timeBack('--after', '3651d', NOW_MS)).toThrow('--after 3651d is longer than 3650d')
  expect(() => timeAhead('--until', '999999d', NOW_MS)).toThrow('--until 999999d is longer than 3650d')
})

test.each([
  ['0', 0],
  ['90', 90],
  ['90s', 90],
  ['15m', 900],
  ['2h', 7_200],
])('%s is so many seconds', (text, seconds) => expect(givenSeconds('--wait', text)).toBe(seconds))

test.each(['', '1.5', '-1', 'long', '5x'])('%j is no number of seconds', (text) => {
  expect(() => givenSeconds('--wait', text)).toThrow(
    `--wait ${JSON.stringify(text)} is neither a whole number of seconds nor a span such as 90s, 15m or 2h`,
  )
})

test('a duration has a unit', () => {
  expect(durationMs('--for', '2h')).toBe(7_200_000)
  expect(() => durationMs('--for', '90')).toThrow('--for "90" is not a duration such as 90s, 30m, 2h or 1d')
})
