import { describe, expect, test } from 'vitest'
import { nextDay } from '../../../src/domain/crons/cron-calendar.ts'
import { type CronExpression, parseCronExpression } from '../../../src/domain/crons/cron-expression.ts'
import { CronSchedule } from '../../../src/domain/crons/cron-schedule.ts'
import { type OffsetSpan, type TimeZone, timeZoneOf } from '../../../src/domain/crons/time-zone.ts'
import { SeededRandom } from '../../simulation/story/seeded-random.ts'

/** Ticks found by months against ticks found by looking at every day of every span, one after the other. */

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const HORIZON_MS = 9 * 366 * DAY_MS
const EXPRESSIONS = 3_000
const TICKS = 6
const ZONES = [...Intl.supportedValuesOf('timeZone'), 'UTC']
/** Days that a zone skipped or had twice, two hours, half hours, and clocks that are changed for a month. */
const ODD_ZONES = [
  'Pacific/Apia',
  'Pacific/Kwajalein',
  'Asia/Manila',
  'Antarctica/Troll',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'America/St_Johns',
  'America/Juneau',
  'Africa/Monrovia',
  'Europe/Dublin',
]

const parsed = (text: string): CronExpression => {
  const expression = parseCronExpression(text)
  if ('problem' in expression) throw new Error(expression.problem)
  return expression
}
const zoneOf = (name: string): TimeZone => {
  const zone = timeZoneOf(name)
  if (zone === null) throw new Error(name)
  return zone
}
const shown = (ticks: ReadonlyArray<number | null>) =>
  ticks.map((tick) => (tick === null ? null : new Date(tick).toISOString()))

/** The next tick by the rules of docs/reference/crons.md: each span of the clock after the other, each day of it. */
function slowNext(expression: CronExpression, zone: TimeZone, afterMs: number): number | null {
  const horizonMs = afterMs + HORIZON_MS
  for (let fromMs = afterMs + 1; fromMs <= horizonMs;) {
    const { startMs, endMs, offsetMs, formerOffsetMs }: OffsetSpan = zone.spanAt(fromMs)
    const isAfterGap = !expression.isPaced && fromMs === startMs && formerOffsetMs < offsetMs
    if (isAfterGap && slowLocal(expression, startMs + formerOffsetMs, startMs + offsetMs) !== null)
      return startMs
    const firstMs = expression.isPaced ? -Infinity : startMs + Math.max(formerOffsetMs, offsetMs)
    const beforeMs = Math.min(endMs, horizonMs) + offsetMs
    const localMs = slowLocal(expression, Math.max(fromMs + offsetMs, firstMs), beforeMs)
    if (localMs !== null) return localMs - offsetMs
    fromMs = endMs
  }
  return null
}

function slowLocal(expression: CronExpression, fromMs: number, beforeMs: number): number | null {
  const { minutes, hours, months, daysOfMonth, daysOfWeek, isEitherDay } = expression
  for (let dayMs = Math.floor(fromMs / DAY_MS) * DAY_MS; dayMs < beforeMs; dayMs += DAY_MS) {
    const day = new Date(dayMs)
    const [isOfMonth, isOfWeek] = [daysOfMonth.has(day.getUTCDate()), daysOfWeek.has(day.getUTCDay())]
    if (!months.has(day.getUTCMonth() + 1) || !(isEitherDay ? isOfMonth || isOfWeek : isOfMonth && isOfWeek))
      continue
    for (const hour of hours) {
      for (const minute of minutes) {
        const localMs = dayMs + (hour * 60 + minute) * MINUTE_MS
        if (localMs >= fromMs) return localMs < beforeMs ? localMs : null
      }
    }
  }
  return null
}

const FIELDS = [
  { first: 0, last: 59, stars: 0.2 },
  { first: 0, last: 23, stars: 0.2 },
  { first: 1, last: 31, stars: 0.4 },
  { first: 1, last: 12, stars: 0.4 },
  { first: 0, last: 7, stars: 0.6 },
] as const

function anyField(random: SeededRandom, { first, last, stars }: (typeof FIELDS)[number]): string {
  if (random.chance(stars)) return '*'
  const from = random.integer(first, last)
  switch (random.integer(0, 3)) {
    case 0:
      return `*/${random.integer(1, last - first - 1)}`
    case 1:
      return `${from}-${random.integer(from, last)}`
    case 2:
      return `${from},${random.integer(first, last)}`
    default:
      return `${from}`
  }
}

/** A third of them are rare, a few tick at night, and some can never come. */
function anyExpression(random: SeededRandom): string {
  if (random.chance(0.2)) return `${random.integer(0, 59)} ${random.integer(0, 3)} 29 2 *`
  if (random.chance(0.15))
    return `*/20 ${random.integer(0, 3)} ${random.integer(28, 31)} ${random.integer(1, 12)} *`
  return FIELDS.map((field) => anyField(random, field)).join(' ')
}

function anyMoment(random: SeededRandom, zone: TimeZone): number {
  const moment = Math.floor(random.between(Date.UTC(1890, 0), Date.UTC(2210, 0)))
  const { endMs } = zone.spanAt(moment)
  return random.chance(0.5) || endMs === Infinity ? moment : endMs - random.integer(0, 3 * DAY_MS)
}

/** Ticks of one date a year, in the hours that a change of the clock skips or shows again, from shortly before it on. */
function nightOfChange(random: SeededRandom, zone: TimeZone): readonly [text: string, afterMs: number] {
  const moment = anyMoment(random, zone)
  const { endMs, offsetMs } = zone.spanAt(moment)
  const changeMs = endMs === Infinity ? moment : endMs
  const wall = new Date(changeMs + offsetMs + random.integer(-2, 2) * 3_600_000)
  const minute = random.pick(['*/20', '7,40', '0'])
  const text = `${minute} ${wall.getUTCHours()} ${wall.getUTCDate()} ${wall.getUTCMonth() + 1} *`
  return [text, changeMs - random.integer(-3 * 60, 4 * 60) * MINUTE_MS]
}

test('the next ticks are those of a walk over all days', { timeout: 120_000 }, () => {
  const random = new SeededRandom(11)
  let refused = 0
  for (let i = 0; i < EXPRESSIONS; i += 1) {
    const name = random.pick(random.chance(0.4) ? ODD_ZONES : ZONES)
    const [text, firstMs] = random.chance(0.4)
      ? nightOfChange(random, zoneOf(name))
      : [anyExpression(random), anyMoment(random, zoneOf(name))]
    const expression = parseCronExpression(text)
    if ('problem' in expression) {
      expect(expression.problem).toMatch(/^never comes/)
      refused += 1
      continue
    }
    const zone = zoneOf(name)
    const schedule = new CronSchedule(expression, zone)
    let afterMs: number | null = firstMs
    for (let tick = 0; tick < TICKS && afterMs !== null; tick += 1) {
      const expected = slowNext(expression, zone, afterMs)
      const told = `${text} in ${name} after ${new Date(afterMs).toISOString()}`
      expect(shown([schedule.next(afterMs)]), told).toEqual(shown([expected]))
      afterMs = expected
    }
  }
  expect(refused).toBeGreaterThan(10)
})

/** Counts how often it is asked. */
class CountedSet extends Set<number> {
  asked = 0
  override has(value: number): boolean {
    this.asked += 1
    return super.has(value)
  }
  override *[Symbol.iterator](): SetIterator<number> {
    for (const value of super[Symbol.iterator]()) {
      this.asked += 1
      yield value
    }
    return undefined
  }
}

/** What one tick asks: of the calendar, and of the clock. */
function stepsOf(text: string, zoneName: string, afterMs: number) {
  const expression = parsed(text)
  const sets = [expression.months, expression.daysOfMonth, expression.daysOfWeek].map(
    (set) => new CountedSet(set),
  )
  const [months = new CountedSet(), daysOfMonth = months, daysOfWeek = months] = sets
  for (const set of sets) set.asked = 0
  const zone = zoneOf(zoneName)
  let spans = 0
  const counting: TimeZone = {
    name: zoneName,
    spanAt: (unixMs) => {
      spans += 1
      return zone.spanAt(unixMs)
    },
  }
  const tick = new CronSchedule({ ...expression, months, daysOfMonth, daysOfWeek }, counting).next(afterMs)
  return { tick, spans, asked: sets.reduce((sum, { asked }) => sum + asked, 0) }
}

describe('what a tick costs does not grow with how far it is', () => {
  test.each([
    ['0 0 29 2 *', 'America/St_Johns', '2024-02-29T12:00Z', '2028-02-29T03:30:00.000Z'],
    ['0 0 29 2 *', 'America/St_Johns', '2096-02-29T12:00Z', '2104-02-29T03:30:00.000Z'],
    ['*/5 0 29 2 *', 'America/St_Johns', '2096-03-29T12:00Z', '2104-02-29T03:30:00.000Z'],
    ['0 0 1 1 *', 'Europe/Berlin', '2026-01-01T00:00Z', '2026-12-31T23:00:00.000Z'],
    ['0 0 31 12 *', 'Pacific/Apia', '2026-12-31T00:00Z', '2027-12-30T11:00:00.000Z'],
  ])('%s in %s after %s', (text, zone, after, expected) => {
    const { tick, spans, asked } = stepsOf(text, zone, Date.parse(after))
    expect(shown([tick])).toEqual([expected])
    expect(spans).toBeLessThanOrEqual(3)
    // Day by day it is asked a hundred times a month.
    expect(asked).toBeLessThanOrEqual(60)
  })

  test('a date that never comes ends soon', () => {
    const { spans, asked, tick } = stepsOf('0 0 29 2 *', 'America/St_Johns', Date.parse('2026-01-01T00:00Z'))
    expect(tick).not.toBeNull()
    const never = { ...parsed('0 0 29 2 *'), daysOfMonth: new Set([30]) }
    expect(
      new CronSchedule(never, zoneOf('America/St_Johns')).next(Date.parse('2026-01-01T00:00Z')),
    ).toBeNull()
    expect(spans + asked).toBeLessThan(70)
  })
})

test('every day from the year 1 to 4000 is found by its own date', { timeout: 60_000 }, () => {
  const every = parsed('0 0 * * *')
  // Before the year 100, Date.UTC means another one.
  const first = Date.parse('0001-01-01T00:00Z')
  const random = new SeededRandom(5)
  for (let i = 0; i < 20_000; i += 1) {
    const dayMs = first + random.integer(0, 1_460_000) * DAY_MS
    const day = new Date(dayMs)
    const dated = {
      ...every,
      months: new Set([day.getUTCMonth() + 1]),
      daysOfMonth: new Set([day.getUTCDate()]),
      daysOfWeek: new Set([day.getUTCDay()]),
    }
    expect(nextDay(dated, dayMs, dayMs + 1)).toBe(dayMs)
    expect(nextDay(dated, dayMs, dayMs)).toBeNull()
    expect(nextDay(every, dayMs, Infinity)).toBe(dayMs)
  }
})
