import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { WindowTimes } from '../../../../src/domain/windows/maintenance-window.ts'
import { atOnce } from '../../../../src/domain/shares/cost-gate.ts'
import { openingsBetween } from '../../../../src/domain/windows/openings-between.ts'
import { WindowOpenings } from '../../../../src/domain/windows/window-openings.ts'

const HOUR_MS = 3_600_000
const at = (text: string) => Date.parse(text)
const recurring = (...schedules: Array<[string, string, number]>): WindowTimes => ({
  kind: 'recurring',
  schedules: schedules.map(([cronExpression, timeZone, minutes]) => ({
    cronExpression,
    timeZone,
    durationSeconds: minutes * 60,
  })),
})
function shown(times: WindowTimes, from: string, until: string, ticksMax = 100) {
  const list = atOnce(openingsBetween(times, { fromMs: at(from), untilMs: at(until), ticksMax }))
  const text = (ms: number) => new Date(ms).toISOString().slice(5, 16)
  return {
    openings: list.openings.map(({ startMs, endMs }) => `${text(startMs)} ${text(endMs)}`),
    cut: list.cutMs === null ? null : text(list.cutMs),
  }
}

test('openings are cut to the span, and those that touch are one', () => {
  const times = recurring(['0 1 * * *', 'UTC', 120], ['0 3 * * sat', 'UTC', 60])
  expect(shown(times, '2026-11-27T02:00Z', '2026-11-29T01:30Z')).toEqual({
    openings: ['11-27T02:00 11-27T03:00', '11-28T01:00 11-28T04:00', '11-29T01:00 11-29T01:30'],
    cut: null,
  })
})

test('one that opens once is there while it lasts', () => {
  const times: WindowTimes = {
    kind: 'once',
    startMs: at('2026-11-27T02:00Z'),
    endMs: at('2026-11-27T04:00Z'),
  }
  expect(shown(times, '2026-11-27T03:00Z', '2026-11-28T00:00Z').openings).toEqual(['11-27T03:00 11-27T04:00'])
  expect(shown(times, '2026-11-27T04:00Z', '2026-11-28T00:00Z').openings).toEqual([])
})

test('too many ticks end the list where all are known', () => {
  const times = recurring(['* * * * *', 'UTC', 1], ['30 1 * * *', 'UTC', 10])
  expect(shown(times, '2026-11-27T02:00Z', '2026-11-28T02:00Z', 30)).toEqual({
    openings: ['11-27T02:00 11-27T02:31'],
    cut: '11-27T02:31',
  })
})

test('openings that overlap more often than ticks are looked at are one that is under way', () => {
  const always = recurring(['* * * * *', 'UTC', 60], ['*/5 * * * *', 'UTC', 240])
  expect(shown(always, '2026-11-27T02:00Z', '2026-11-28T02:00Z', 10)).toEqual({
    openings: ['11-27T02:00 11-27T03:10'],
    cut: '11-27T03:10',
  })
})

test('a moment is in an opening just when the window is open then', () => {
  const schedule = fc.tuple(
    fc.constantFrom('0 1 * * *', '*/20 * * * *', '30 2 * * sun', '15 */6 * * *'),
    fc.constantFrom('UTC', 'Europe/Berlin', 'America/Santiago'),
    fc.constantFrom(10, 20, 60, 1_500),
  )
  const offset = fc.integer({ min: 0, max: 96 * 60 })
  fc.assert(
    fc.property(
      fc.array(schedule, { minLength: 1, maxLength: 3 }),
      fc.array(offset, { minLength: 5, maxLength: 5 }),
      fc.constantFrom('2026-03-27T00:00Z', '2026-10-23T00:00Z'),
      (schedules, offsets, from) => {
        const times = recurring(...schedules)
        const [fromMs, untilMs] = [at(from), at(from) + 96 * HOUR_MS]
        const { openings, cutMs } = atOnce(openingsBetween(times, { fromMs, untilMs, ticksMax: 1_000 }))
        expect(cutMs).toBeNull()
        for (const minutes of offsets) {
          const ms = fromMs + Math.min(minutes, 96 * 60 - 1) * 60_000
          const isIn = openings.some(({ startMs, endMs }) => startMs <= ms && ms < endMs)
          expect(isIn).toBe(new WindowOpenings(times).at(ms).isOpen)
        }
      },
    ),
    { numRuns: 60 },
  )
})
