import { describe, expect, test } from 'vitest'
import { parseCronExpression } from '../../../src/domain/cron-expression.ts'
import { createCronSchedule } from '../../../src/domain/cron-schedule.ts'
import { timeZoneOf } from '../../../src/domain/time-zone.ts'

const DAY_MS = 86_400_000

function scheduleOf(text: string, zoneName = 'UTC') {
  const expression = parseCronExpression(text)
  if ('problem' in expression) throw new Error(expression.problem)
  const zone = timeZoneOf(zoneName)
  if (zone === null) throw new Error(`no zone ${zoneName}`)
  return createCronSchedule(expression, zone)
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

  test('the latest tick is the last at or before its moment', () => {
    const schedule = scheduleOf('30 9 1 * *')
    expect(shown([schedule.latest(at('2026-11-21T00:00Z'))])).toEqual(['2026-11-01T09:30Z'])
    expect(shown([schedule.latest(at('2026-11-01T09:30Z'))])).toEqual(['2026-11-01T09:30Z'])
    expect(shown([schedule.latest(at('2026-11-01T09:30Z') - 1)])).toEqual(['2026-10-01T09:30Z'])
    expect(shown([scheduleOf('0 0 29 2 *').latest(at('2104-02-28T00:00Z'))])).toEqual(['2096-02-29T00:00Z'])
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

describe('zones', () => {
  test.each([
    'UTC',
    'Europe/Berlin',
    'Asia/Calcutta',
    'America/Argentina/Buenos_Aires',
    'Etc/GMT+5',
    'EST5EDT',
  ])('%s is one', (name) => {
    expect(timeZoneOf(name)?.name).toBe(name)
  })
  test.each([
    '',
    '+02:00',
    'Europe/Atlantis',
    'local',
    '../etc/passwd',
    'Europe/Berlin\n',
    'a'.repeat(5_000),
  ])('%j is none', (name) => {
    expect(timeZoneOf(name)).toBeNull()
  })
})
