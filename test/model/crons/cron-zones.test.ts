import { describe, expect, test } from 'vitest'
import { cronScheduleOf } from '../../../src/domain/crons/cron.ts'
import { parseCronExpression } from '../../../src/domain/crons/cron-expression.ts'

const shown = (ticks: readonly number[]) => ticks.map((tick) => new Date(tick).toISOString())

function ticksOf(text: string, timeZone: string, fromMs: number, untilMs: number): number[] {
  const schedule = cronScheduleOf({ cronExpression: text, timeZone })
  if ('problem' in schedule) throw new Error(schedule.problem)
  return schedule.between(fromMs - 1, untilMs, 10_000)
}

describe('against a clock read minute by minute', () => {
  const EXPRESSIONS = [
    '30 2 * * *',
    '0 0 * * *',
    '15,45 0-4 * * *',
    '59 23 * * *',
    '0 1,2,3 * * SUN',
    '0 3 1,25-31 * *',
    '* * * * *',
    '*/20 * * * *',
    '10 */2 * * *',
    '5-59/30 1-3 * * *',
    '0 * * * 0',
  ]
  const AROUND_MS = 5 * 3_600_000

  /** Changes of all zones from 2016 to 2036; two that show the same clock are one. */
  function changes(): Array<{ zone: string; atMs: number }> {
    const found = new Map<string, { zone: string; atMs: number }>()
    for (const zone of Intl.supportedValuesOf('timeZone')) {
      let moment = Temporal.Instant.from('2016-01-01T00:00Z').toZonedDateTimeISO(zone)
      for (;;) {
        const next = moment.getTimeZoneTransition('next')
        if (next === null || next.year > 2036) break
        const former = next.subtract({ nanoseconds: 1 }).offset
        // None of the expressions names a month: the same change on the same day says the same.
        const day = `${next.dayOfWeek} ${next.day} ${next.toPlainTime().toString()}`
        found.set(`${former} ${next.offset} ${day}`, { zone, atMs: next.epochMilliseconds })
        moment = next
      }
    }
    return [...found.values()]
  }

  /** What the rule says, told from the wall: no expression is searched for, every minute is looked at. */
  function* wallTicks(text: string, zone: string, fromMs: number, untilMs: number) {
    const expression = parseCronExpression(text)
    if ('problem' in expression) throw new Error(expression.problem)
    const fits = (wallMs: number): boolean => {
      const wall = new Date(wallMs)
      // The most frequent reason first: this is asked some million times.
      if (!expression.minutes.includes(wall.getUTCMinutes())) return false
      const [isDay, isWeekday] = [
        expression.daysOfMonth.has(wall.getUTCDate()),
        expression.daysOfWeek.has(wall.getUTCDay()),
      ]
      return (
        expression.hours.includes(wall.getUTCHours()) &&
        expression.months.has(wall.getUTCMonth() + 1) &&
        (expression.isEitherDay ? isDay || isWeekday : isDay && isWeekday)
      )
    }
    let highestMs = wallOf(zone, fromMs - 60_000)
    for (let ms = fromMs; ms <= untilMs; ms += 60_000) {
      const wallMs = wallOf(zone, ms)
      if (expression.isPaced) {
        if (fits(wallMs)) yield ms
        continue
      }
      let isTick = wallMs > highestMs && fits(wallMs)
      for (let skippedMs = highestMs + 60_000; skippedMs < wallMs; skippedMs += 60_000) {
        isTick ||= fits(skippedMs)
      }
      if (isTick) yield ms
      highestMs = Math.max(highestMs, wallMs)
    }
  }

  const formats = new Map<string, Intl.DateTimeFormat>()
  const wallsByZone = new Map<string, Map<number, number>>()
  function wallOf(zone: string, ms: number): number {
    const walls = wallsByZone.get(zone) ?? new Map<number, number>()
    const known = walls.get(ms)
    if (known !== undefined) return known
    let format = formats.get(zone)
    if (format === undefined) {
      format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' })
      formats.set(zone, format)
    }
    const wallMs = Date.parse(`${format.format(ms).replace(' ', 'T')}Z`)
    wallsByZone.set(zone, walls.set(ms, wallMs))
    return wallMs
  }

  test('every change of every zone in twenty years', { timeout: 120_000 }, () => {
    const all = changes()
    expect(all.length).toBeGreaterThan(300)
    for (const { zone, atMs } of all) {
      wallsByZone.clear()
      const fromMs = atMs - AROUND_MS
      const untilMs = atMs + AROUND_MS
      for (const text of EXPRESSIONS) {
        const expected = [...wallTicks(text, zone, fromMs, untilMs)]
        expect(shown(ticksOf(text, zone, fromMs, untilMs)), `${text} in ${zone}`).toEqual(shown(expected))
      }
    }
  })
})
