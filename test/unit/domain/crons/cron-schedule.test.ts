import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseCronExpression } from '../../../../src/domain/crons/cron-expression.ts'
import { CronSchedule } from '../../../../src/domain/crons/cron-schedule.ts'
import { timeZoneOf } from '../../../../src/domain/crons/time-zone.ts'

const DAY_MS = 86_400_000

function scheduleOf(text: string, zoneName = 'UTC') {
  const expression = parseCronExpression(text)
  if ('problem' in expression) throw new Error(expression.problem)
  const zone = timeZoneOf(zoneName)
  if (zone === null) throw new Error(`no zone ${zoneName}`)
  return new CronSchedule(expression, zone)
}
const at = (text: string) => Date.parse(text)
const shown = (ticks: ReadonlyArray<number | null>) =>
  ticks.map((tick) => (tick === null ? null : new Date(tick).toISOString().replace(':00.000Z', 'Z')))
function ticksOf(text: string, zoneName: string, from: string, until: string) {
  return shown(scheduleOf(text, zoneName).between(at(from) - 1, at(until), 1_000))
}

describe('in UTC', () => {
  test('a tick is after its moment, never at it', () => {
    const schedule = scheduleOf('0 9 * * *')
    expect(shown([schedule.next(at('2026-11-21T09:00Z'))])).toEqual(['2026-11-22T09:00Z'])
    expect(shown([schedule.next(at('2026-11-21T09:00Z') - 1)])).toEqual(['2026-11-21T09:00Z'])
  })

  test('29 February waits eight years over a century without one', () => {
    expect(shown([scheduleOf('0 0 29 2 *').next(at('2096-03-01T00:00Z'))])).toEqual(['2104-02-29T00:00Z'])
  })

  test('between stops at its limit', () => {
    expect(scheduleOf('* * * * *').between(0, DAY_MS, 3)).toEqual([60_000, 120_000, 180_000])
    expect(scheduleOf('* * * * *').between(0, 120_000, 9)).toEqual([60_000, 120_000])
  })
})

describe('where the clock is put forward', () => {
  const night = (text: string) => ticksOf(text, 'Europe/Berlin', '2026-03-29T00:00Z', '2026-03-29T02:30Z')
  test.each([
    ['30 2 * * *', ['2026-03-29T01:00Z']],
    ['0,15,30 2 * * *', ['2026-03-29T01:00Z']],
    ['30 2,3 * * *', ['2026-03-29T01:00Z', '2026-03-29T01:30Z']],
    ['0 2,3 * * *', ['2026-03-29T01:00Z']],
    ['0 3 * * *', ['2026-03-29T01:00Z']],
    ['0 * * * *', ['2026-03-29T00:00Z', '2026-03-29T01:00Z', '2026-03-29T02:00Z']],
    ['*/20 2 * * *', []],
    ['30 */2 * * *', ['2026-03-29T02:30Z']],
  ])('%s', (text, ticks) => {
    expect(night(text)).toEqual(ticks)
  })

  test('where midnight does not exist, a daily tick of midnight comes at one', () => {
    expect(ticksOf('0 0 * * *', 'America/Sao_Paulo', '2018-11-04T00:00Z', '2018-11-05T02:00Z')).toEqual([
      '2018-11-04T03:00Z',
      '2018-11-05T02:00Z',
    ])
  })

  test('a day that does not exist gives its ticks to the moment after it', () => {
    expect(ticksOf('0 9 30 12 *', 'Pacific/Apia', '2011-12-29T00:00Z', '2012-01-02T00:00Z')).toEqual([
      '2011-12-30T10:00Z',
    ])
  })
})

describe('where the clock is put back', () => {
  const night = (text: string) => ticksOf(text, 'Europe/Berlin', '2026-10-25T00:00Z', '2026-10-25T02:00Z')
  test.each([
    ['30 2 * * *', ['2026-10-25T00:30Z']],
    ['0 3 * * *', ['2026-10-25T02:00Z']],
    ['0 2,3 * * *', ['2026-10-25T00:00Z', '2026-10-25T02:00Z']],
    ['0 * * * *', ['2026-10-25T00:00Z', '2026-10-25T01:00Z', '2026-10-25T02:00Z']],
    ['*/30 2 * * *', ['2026-10-25T00:00Z', '2026-10-25T00:30Z', '2026-10-25T01:00Z', '2026-10-25T01:30Z']],
  ])('%s', (text, ticks) => {
    expect(night(text)).toEqual(ticks)
  })

  test('asked for within the hour that comes again, it has had its tick', () => {
    const schedule = scheduleOf('30 2 * * *', 'Europe/Berlin')
    for (const after of [
      '2026-10-25T00:30Z',
      '2026-10-25T01:00Z',
      '2026-10-25T01:15Z',
      '2026-10-25T01:45Z',
    ]) {
      expect(shown([schedule.next(at(after))])).toEqual(['2026-10-26T01:30Z'])
    }
  })
})

describe('counting', () => {
  const EXPRESSIONS = [
    '* * * * *',
    '*/7 * * * *',
    '0 * * * *',
    '30 2 * * *',
    '0 2,3 * * *',
    '*/20 2 * * *',
    '30 */2 * * *',
    '0 0 * * *',
    '5,10,55 0,1,23 * * *',
    '0 9 1 * MON',
    '15 1-4 * 3,10 SUN',
    '0 0 29 2 *',
    '59 23 31 12 *',
  ]
  const ZONES = ['UTC', 'Europe/Berlin', 'America/Sao_Paulo', 'Australia/Lord_Howe', 'Asia/Kathmandu']
  const HOUR_MS = 3_600_000
  /** Around changes of the clock, the end of a year, a leap day, and a day that does not exist. */
  const MOMENTS = ['2026-03-29T01:00Z', '2026-10-25T01:00Z', '2018-11-04T03:00Z', '2026-04-04T15:00Z']
    .concat(['2026-10-03T15:30Z', '2026-12-31T23:59Z', '2028-02-29T12:00Z'])
    .map(at)

  test.each([...ZONES, 'Pacific/Apia'])('finds what a walk finds: %s', (zone) => {
    const moments = zone === 'Pacific/Apia' ? [at('2011-12-30T10:00Z')] : MOMENTS
    for (const text of EXPRESSIONS) {
      const schedule = scheduleOf(text, zone)
      for (const moment of moments) {
        for (const [before, after] of [
          [0, 0],
          [1, 0],
          [HOUR_MS, 90_000],
          [7 * HOUR_MS, 5 * HOUR_MS + 1],
          [3 * DAY_MS, 2 * DAY_MS],
        ] as const) {
          const [afterMs, untilMs] = [moment - before, moment + after]
          const all = schedule.between(afterMs, untilMs, 100_000)
          for (const limit of [0, 1, 2, 50, 1_000, 100_000]) {
            const ticks = all.slice(0, limit)
            const counted = { count: ticks.length, lastMs: ticks.at(-1) ?? null }
            expect(schedule.count(afterMs, untilMs, limit), `${text} ${afterMs} ${untilMs} ${limit}`).toEqual(
              counted,
            )
          }
        }
      }
    }
  })

  test('finds it over random spans, however long', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...EXPRESSIONS),
        fc.constantFrom(...ZONES),
        fc.integer({ min: at('1990-01-01T00:00Z'), max: at('2035-01-01T00:00Z') }),
        fc.integer({ min: 0, max: 400 * DAY_MS }),
        fc.integer({ min: 0, max: 3_000 }),
        (text, zone, afterMs, spanMs, limit) => {
          const schedule = scheduleOf(text, zone)
          const ticks = schedule.between(afterMs, afterMs + spanMs, limit)
          const counted = { count: ticks.length, lastMs: ticks.at(-1) ?? null }
          expect(schedule.count(afterMs, afterMs + spanMs, limit)).toEqual(counted)
        },
      ),
      { numRuns: 300 },
    )
  })
})
