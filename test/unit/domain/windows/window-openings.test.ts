import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { cronScheduleOf } from '../../../../src/domain/crons/cron.ts'
import type { WindowSchedule, WindowTimes } from '../../../../src/domain/windows/maintenance-window.ts'
import { OPENINGS_JOINED_MAX, WindowOpenings } from '../../../../src/domain/windows/window-openings.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const at = (text: string) => Date.parse(text)
const shown = (ms: number | null) =>
  ms === null ? null : Number.isFinite(ms) ? new Date(ms).toISOString() : ms
const once = (start: string, end: string): WindowTimes => ({
  kind: 'once',
  startMs: at(start),
  endMs: at(end),
})
const recurring = (...schedules: Array<[string, string, number]>): WindowTimes => ({
  kind: 'recurring',
  schedules: schedules.map(([cronExpression, timeZone, minutes]) => ({
    cronExpression,
    timeZone,
    durationSeconds: minutes * 60,
  })),
})
function stateAt(times: WindowTimes, text: string) {
  const { isOpen, sinceMs, endMs, nextStartMs } = new WindowOpenings(times).at(at(text))
  return [isOpen, shown(sinceMs), shown(endMs), shown(nextStartMs)]
}

describe('a window that opens once', () => {
  const times = once('2026-11-21T09:00:00Z', '2026-11-21T10:00:00Z')
  test.each([
    ['2026-11-21T08:59:59.999Z', [false, null, null, '2026-11-21T09:00:00.000Z']],
    ['2026-11-21T09:00:00.000Z', [true, '2026-11-21T09:00:00.000Z', '2026-11-21T10:00:00.000Z', null]],
    ['2026-11-21T09:59:59.999Z', [true, '2026-11-21T09:00:00.000Z', '2026-11-21T10:00:00.000Z', null]],
    ['2026-11-21T10:00:00.000Z', [false, null, null, null]],
  ])('at %s', (text, state) => {
    expect(stateAt(times, text)).toEqual(state)
  })

  it('answers the same whichever time was asked for before', () => {
    const openings = new WindowOpenings(times)
    const asked = ['10:30', '09:30', '08:30', '09:59', '10:00', '09:00'].map((time) =>
      openings.at(at(`2026-11-21T${time}:00Z`)),
    )
    expect(asked.map(({ isOpen }) => isOpen)).toEqual([false, true, false, true, false, true])
  })
})

describe('where the clock is changed', () => {
  it('an opening lasts as long in a night of 23 hours', () => {
    const times = recurring(['30 1 * * *', 'Europe/Berlin', 120])
    expect(stateAt(times, '2026-03-29T01:00:00Z')).toEqual([
      true,
      '2026-03-29T00:30:00.000Z',
      '2026-03-29T02:30:00.000Z',
      '2026-03-29T23:30:00.000Z',
    ])
  })

  it('one in the skipped hour opens at the first moment after it', () => {
    const times = recurring(['30 2 * * *', 'Europe/Berlin', 60])
    expect(stateAt(times, '2026-03-29T01:10:00Z')).toEqual([
      true,
      '2026-03-29T01:00:00.000Z',
      '2026-03-29T02:00:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ])
  })

  it('one in the repeated hour opens the first time only', () => {
    const times = recurring(['30 2 * * *', 'Europe/Berlin', 30])
    expect(stateAt(times, '2026-10-25T00:30:00Z')).toEqual([
      true,
      '2026-10-25T00:30:00.000Z',
      '2026-10-25T01:00:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ])
    expect(stateAt(times, '2026-10-25T01:30:00Z')[0]).toBe(false)
  })
})

describe('openings that follow each other', () => {
  it('are one where they overlap or touch', () => {
    const times = recurring(['0 1 * * *', 'UTC', 60], ['30 1 * * *', 'UTC', 60], ['30 2 * * *', 'UTC', 15])
    const [, ...whole] = [
      '',
      '2026-11-21T01:00:00.000Z',
      '2026-11-21T02:45:00.000Z',
      '2026-11-22T01:00:00.000Z',
    ]
    for (const time of ['01:00', '01:45', '02:10', '02:30', '02:44'])
      expect(stateAt(times, `2026-11-21T${time}:00Z`)).toEqual([true, ...whole])
    expect(stateAt(times, '2026-11-21T02:45:00Z')).toEqual([false, null, null, whole[2]])
  })

  it('are followed for a bounded number', () => {
    const openings = new WindowOpenings(recurring(['* * * * *', 'UTC', 1]))
    const nowMs = at('2026-11-21T01:00:00Z')
    const state = openings.at(nowMs)
    expect(state).toMatchObject({ isOpen: true, sinceMs: null, endMs: null, nextStartMs: null })
    expect(state.untilMs).toBe(nowMs + (OPENINGS_JOINED_MAX + 1) * MINUTE_MS)
    expect(openings.at(state.untilMs).isOpen).toBe(true)
  })
})

it('a schedule that cannot be read opens nothing', () => {
  expect(
    stateAt(recurring(['61 * * * *', 'UTC', 60], ['0 1 * * *', 'Mars/Base', 60]), '2026-11-21T01:00:00Z'),
  ).toEqual([false, null, null, null])
})

/** Minute by minute: each tick of the schedule, asked for alone, keeps the next minutes open. */
function slowModel(schedules: readonly WindowSchedule[], fromMs: number, minutes: number): boolean[] {
  const open = Array.from({ length: minutes }, () => false)
  for (const { cronExpression, timeZone, durationSeconds } of schedules) {
    const schedule = cronScheduleOf({ cronExpression, timeZone })
    if ('problem' in schedule) throw new Error(schedule.problem)
    const length = durationSeconds / 60
    for (let minute = -length; minute < minutes; minute += 1) {
      const ms = fromMs + minute * MINUTE_MS
      if (schedule.next(ms - 1) !== ms) continue
      for (let i = Math.max(0, minute); i < Math.min(minutes, minute + length); i += 1) open[i] = true
    }
  }
  return open
}

const aSchedule = fc.record({
  cronExpression: fc.constantFrom(
    '30 2 * * *',
    '0,30 1-3 * * *',
    '*/45 * * * *',
    '0 */3 * * *',
    '15 0 * * 0',
    '0 2 * * *',
  ),
  timeZone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'),
  durationSeconds: fc.integer({ min: 1, max: 240 }).map((minutes) => minutes * 60),
})
/** Nights in which clocks of these zones are put forward or back, and one without. */
const aNight = fc.constantFrom(
  '2026-03-28T22:00Z',
  '2026-10-24T22:00Z',
  '2026-03-08T03:00Z',
  '2026-11-01T02:00Z',
  '2026-04-04T13:00Z',
  '2026-10-03T13:00Z',
  '2026-07-01T00:00Z',
)

it('is open when a slow model says so, from each start to each end', () => {
  fc.assert(
    fc.property(fc.array(aSchedule, { minLength: 1, maxLength: 3 }), aNight, (schedules, night) => {
      const fromMs = at(night)
      const open = slowModel(schedules, fromMs, 8 * 60)
      const openings = new WindowOpenings({ kind: 'recurring', schedules })
      for (const [minute, isOpen] of open.entries()) {
        const ms = fromMs + minute * MINUTE_MS
        const state = openings.at(ms)
        expect(state.isOpen).toBe(isOpen)
        const change = open.indexOf(!isOpen, minute)
        const changesAtMs = isOpen ? state.endMs : state.nextStartMs
        if (change >= 0) expect(changesAtMs).toBe(fromMs + change * MINUTE_MS)
        else if (changesAtMs !== null) expect(changesAtMs).toBeGreaterThanOrEqual(fromMs + 8 * HOUR_MS)
        const begun = open.lastIndexOf(!isOpen, minute)
        if (isOpen && begun >= 0) expect(state.sinceMs).toBe(fromMs + (begun + 1) * MINUTE_MS)
      }
    }),
    { numRuns: 25 },
  )
})
