import { expect, test } from 'vitest'
import {
  changeText,
  clockChanges,
  dayOfChange,
  formatDayTime,
  nextClockChange,
  offsetText,
} from '../../../../dashboard/src/format/clock-changes.ts'

const ms = (text: string): number => Date.parse(text)
const NOW = ms('2026-11-23T08:00:00Z')

test.each([
  ['Europe/Berlin', '2027-03-28T01:00:00Z', '2027-03-28', 'clocks go forward, 02:00 → 03:00'],
  ['America/New_York', '2027-03-14T07:00:00Z', '2027-03-14', 'clocks go forward, 02:00 → 03:00'],
  ['Australia/Lord_Howe', '2027-04-03T15:00:00Z', '2027-04-04', 'clocks go back, 02:00 → 01:30'],
  // At midnight: the day that becomes longer is the one before.
  ['America/Santiago', '2027-04-04T03:00:00Z', '2027-04-03', 'clocks go back, 00:00 → 23:00'],
  ['America/Asuncion', null, null, null],
  ['UTC', null, null, null],
])('the next change of clocks in %s', (zone, at, day, text) => {
  const change = nextClockChange(NOW, zone)
  expect(change === null ? null : change.atMs).toBe(at === null ? null : ms(at))
  expect(change === null ? null : dayOfChange(change)).toBe(day)
  expect(change === null ? null : changeText(change)).toBe(text)
})

test('a zone that changes its clocks for a month has both changes', () => {
  const changes = clockChanges(ms('2024-01-01T00:00:00Z'), ms('2025-01-01T00:00:00Z'), 'Africa/Casablanca')
  expect(changes.map(dayOfChange)).toEqual(['2024-03-10', '2024-04-14'])
})

test('times have the year where it is another one, and their offset', () => {
  expect(formatDayTime(NOW, NOW, 'Europe/Berlin')).toBe('Mon 11-23 09:00')
  expect(formatDayTime(ms('2026-12-31T23:30:00Z'), NOW, 'Europe/Berlin')).toBe('Fri 2027-01-01 00:30')
  expect(
    ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'America/St_Johns'].map((zone) => offsetText(NOW, zone)),
  ).toEqual(['UTC', 'UTC+1', 'UTC+5:30', 'UTC−3:30'])
})
