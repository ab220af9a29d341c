import { expect, test } from 'vitest'
import {
  type RunOrChange,
  ticksAround,
  timesOf,
} from '../../../../dashboard/src/features/crons/times/run-times.ts'
import { nextClockChange } from '../../../../dashboard/src/format/clock-changes.ts'

const ms = (text: string): number => Date.parse(text)
const DAY_MS = 86_400_000

/** Runs as their time, marked with `*` on a day with a change; changes as their zone. */
function told(times: readonly RunOrChange[]): string[] {
  return times.map((time) => {
    if (time.kind === 'change') return time.zone
    return `${new Date(time.atMs).toISOString().slice(5, 16)}${time.change === null ? '' : '*'}`
  })
}

test('changes of clocks stand between the runs, in both zones, and their day is marked', () => {
  // 02:30 in Berlin: at 03:00 on the day without a 02:30.
  const ticks = ['2027-03-27T01:30:00Z', '2027-03-28T01:00:00Z', '2027-03-29T00:30:00Z'].map(ms)
  const span = { fromMs: ms('2027-03-13T00:00:00Z'), toMs: ticks[2] ?? 0 }
  expect(told(timesOf(ticks, { ...span, zones: ['Europe/Berlin', 'America/New_York'] }))).toEqual([
    'America/New_York',
    '03-27T01:30',
    'Europe/Berlin',
    '03-28T01:00*',
    '03-29T00:30',
  ])
})

test('a run before the change is on its day as well', () => {
  const tick = ms('2027-03-28T00:30:00Z')
  const times = timesOf([tick], { fromMs: tick - 1, toMs: tick, zones: ['Europe/Berlin'] })
  expect(told(times)).toEqual(['03-28T00:30*'])
})

test('between rare runs changes are left out', () => {
  const ticks = [0, 1, 2].map((index) => ms('2027-01-01T00:00:00Z') + index * 366 * DAY_MS)
  const span = { fromMs: ms('2026-11-23T00:00:00Z'), toMs: ticks[2] ?? 0, zones: ['Europe/Berlin'] }
  expect(timesOf(ticks, span).filter(({ kind }) => kind === 'change')).toEqual([])
})

test('without runs there are none', () => {
  expect(timesOf([], { fromMs: 0, toMs: 0, zones: ['UTC'] })).toEqual([])
})

test('those of the day that are nearest to a change', () => {
  const change = nextClockChange(ms('2027-03-01T00:00:00Z'), 'Europe/Berlin')
  if (change === null) throw new Error('Berlin has one')
  const hourly = Array.from({ length: 60 }, (_, index) => change.atMs - 30 * 3_600_000 + index * 3_600_000)
  const around = ticksAround(hourly, change, 'Europe/Berlin', 3)
  expect(around.map((at) => (at - change.atMs) / 3_600_000)).toEqual([-1, 0, 1])
  // 23 hours make the day.
  expect(ticksAround(hourly, change, 'Europe/Berlin', 100)).toHaveLength(23)
})
