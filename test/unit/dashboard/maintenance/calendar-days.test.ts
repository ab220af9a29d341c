import { expect, test } from 'vitest'
import {
  dateOf,
  daysOf,
  moved,
  piecesOf,
  titleOf,
} from '../../../../dashboard/src/features/maintenance/calendar-days.ts'

const opening = (id: string, from: string, to: string) => ({
  window_id: id,
  start_at: `2026-11-${from}:00.000+00:00`,
  end_at: `2026-11-${to}:00.000+00:00`,
})

test('a month has whole weeks from Monday on, with the days around it', () => {
  const days = daysOf('month', '2026-11-23', 'UTC')
  expect([days[0]?.date, days.at(-1)?.date, days.length]).toEqual(['2026-10-26', '2026-12-06', 42])
  expect(daysOf('month', '2027-02-10', 'UTC').length).toBe(28)
  expect(titleOf('month', '2026-11-23')).toBe('November 2026')
})

test('a week begins on the Monday before, also across a year', () => {
  const days = daysOf('week', '2027-01-03', 'UTC')
  expect(days.map(({ date }) => date).slice(0, 2)).toEqual(['2026-12-28', '2026-12-29'])
  expect(titleOf('week', '2027-01-03')).toBe('2026-12-28 – 01-03')
  expect([moved('week', '2027-01-03', -1), moved('month', '2027-01-31', 1)]).toEqual([
    '2026-12-27',
    '2027-02-01',
  ])
})

test('a day in which clocks are changed has its own length', () => {
  const hours = daysOf('week', '2027-03-28', 'Europe/Berlin').map(
    (day) => (day.endMs - day.startMs) / 3_600_000,
  )
  expect(hours).toEqual([24, 24, 24, 24, 24, 24, 23])
  expect(dateOf(Date.parse('2026-11-23T23:30:00Z'), 'Europe/Berlin')).toBe('2026-11-24')
})

test('pieces of a day have its hours, and say what goes on beyond it', () => {
  const [monday] = daysOf('week', '2026-11-23', 'Europe/Berlin')
  const openings = [
    opening('long', '20T00:00', '25T00:00'),
    opening('over', '22T20:00', '22T23:00'),
    opening('noon', '23T11:00', '23T13:30'),
    opening('next', '23T23:00', '24T01:00'),
  ]
  expect(monday && piecesOf(openings, monday, 'Europe/Berlin')).toEqual([
    { windowId: 'long', from: null, to: null, begin: 0, end: 1, lane: 0, lanes: 2 },
    { windowId: 'noon', from: '12:00', to: '14:30', begin: 0.5, end: 14.5 / 24, lane: 1, lanes: 2 },
  ])
})

test('only those that overlap share the width', () => {
  const [day] = daysOf('week', '2026-11-23', 'UTC')
  const openings = [
    opening('a', '23T01:00', '23T03:00'),
    opening('b', '23T02:00', '23T05:00'),
    opening('c', '23T03:00', '23T04:00'),
    opening('d', '23T05:00', '23T06:00'),
  ]
  const lanes = day && piecesOf(openings, day, 'UTC').map((one) => `${one.windowId} ${one.lane}/${one.lanes}`)
  expect(lanes).toEqual(['a 0/2', 'b 1/2', 'c 0/2', 'd 0/1'])
})
