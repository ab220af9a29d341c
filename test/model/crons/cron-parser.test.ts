import { CronExpressionParser } from 'cron-parser'
import { expect, test } from 'vitest'
import type { CronSchedule } from '../../../src/domain/crons/cron-schedule.ts'
import { cronScheduleOf } from '../../../src/domain/crons/cron.ts'
import { SeededRandom } from '../../simulation/story/seeded-random.ts'

/** Our ticks against those of cron-parser. Each disagreement is explained by a rule of docs/reference/crons.md. */

const EXPRESSIONS = 5_000
const TICKS = 8
const DAY_RULES = ['either day', 'end of the week']
const CLOCK_RULES = ['skipped hour', 'repeated hour', 'pace']
const HOUR_MS = 3_600_000
const FIRST_MS = Date.UTC(2016, 0)
const LAST_MS = Date.UTC(2037, 0)
const ZONES = Intl.supportedValuesOf('timeZone')
/** Changes its clock by two hours. */
const TWO_HOURS = 'Antarctica/Troll'

interface Bounds {
  readonly first: number
  readonly last: number
  /** How often the field is `*`. */
  readonly stars: number
}

const MINUTES: Bounds = { first: 0, last: 59, stars: 0.2 }
const HOURS: Bounds = { first: 0, last: 23, stars: 0.2 }
const NIGHT_HOURS: Bounds = { first: 0, last: 3, stars: 0.1 }
const DAYS: Bounds = { first: 1, last: 31, stars: 0.6 }
const MONTHS: Bounds = { first: 1, last: 12, stars: 0.7 }
const WEEKDAYS: Bounds = { first: 0, last: 7, stars: 0.6 }

/** A fifth of them tick every night, in the hours in which clocks are changed. */
function anyExpression(random: SeededRandom): string {
  if (random.chance(0.2)) return `${anyField(random, MINUTES)} ${anyField(random, NIGHT_HOURS)} * * *`
  return [MINUTES, HOURS, DAYS, MONTHS, WEEKDAYS].map((field) => anyField(random, field)).join(' ')
}

function anyField(random: SeededRandom, bounds: Bounds): string {
  if (random.chance(bounds.stars)) return '*'
  const items = random.chance(0.8) ? 1 : random.integer(2, 3)
  return Array.from({ length: items }, () => anyItem(random, bounds)).join(',')
}

function anyItem(random: SeededRandom, { first, last }: Bounds): string {
  const step = random.integer(1, Math.min(last - first - 1, 12))
  const from = random.integer(first, last)
  switch (random.integer(0, 5)) {
    case 0:
      return `*/${step}`
    case 1:
      return `${from}-${random.integer(from, last)}/${step}`
    case 2:
      return `${from}-${random.integer(from, last)}`
    case 3:
      return last === 7 && from === 7 ? 'SUN' : `${from}/${step}`
    default:
      return `${from}`
  }
}

/** Half of them lie in the hours before the zone's clock is changed. */
function anyMoment(random: SeededRandom, zone: string): number {
  const moment = Math.floor(random.between(FIRST_MS, LAST_MS))
  if (random.chance(0.5)) return moment
  const change = Temporal.Instant.fromEpochMilliseconds(moment)
    .toZonedDateTimeISO(zone)
    .getTimeZoneTransition('next')
  return change === null ? moment : change.epochMilliseconds - random.integer(0, 6 * HOUR_MS)
}

/** The expression as cron-parser has to be given it, and the rules because of which it differs from what was written. */
function asTheirs(text: string): { readonly text: string; readonly rules: readonly string[] } {
  const rules = new Set<string>()
  const fields = text.split(' ').map((field, index) => {
    const isWeekday = index === 4
    let items = field.split(',')
    if ((isWeekday || index === 2) && field !== '*' && items.some((item) => /^\*(?:\/1)?$/.test(item))) {
      rules.add('either day')
      return '*'
    }
    if (isWeekday && items.some((item) => /^[0-6]\/\d+$/.test(item))) {
      rules.add('end of the week')
      items = items.map((item) => item.replace(/^([0-6])\//, '$1-6/'))
    }
    const values = items.flatMap((item) => theirValues(item, index))
    if (new Set(values).size === values.length) return items.join(',')
    rules.add('named twice')
    return [...new Set(values)].join(',')
  })
  return { text: fields.join(' '), rules: [...rules] }
}

function theirValues(item: string, index: number): number[] {
  const { minute, hour, dayOfMonth, month, dayOfWeek } = CronExpressionParser.parse(
    ['*', '*', '*', '*', '*'].with(index, item).join(' '),
  ).fields
  const field = [minute, hour, dayOfMonth, month, dayOfWeek][index]
  // Sunday may be in there as 0 and as 7.
  return [...new Set(field?.values.map((value) => (index === 4 ? Number(value) % 7 : Number(value))))]
}

/** Fewer than asked for where cron-parser gives up its search: rare days of February. */
function theirTicks(text: string, tz: string, afterMs: number): number[] {
  const expression = CronExpressionParser.parse(text, { currentDate: new Date(afterMs), tz })
  const ticks: number[] = []
  try {
    while (ticks.length < TICKS) ticks.push(expression.next().getTime())
  } catch (error) {
    expect(String(error)).toContain('loop limit exceeded')
  }
  return ticks
}

/** The rule by which two ticks near a change of the clock differ; null = there is none. */
function clockRule({ expression, zone }: CronSchedule, ours: number, theirs: number): string | null {
  const firstMs = Math.min(ours, theirs)
  const { startMs, endMs } = zone.spanAt(firstMs)
  for (const change of [startMs, endMs].filter(Number.isFinite)) {
    const { offsetMs, formerOffsetMs } = zone.spanAt(change)
    const forwardMs = offsetMs - formerOffsetMs
    if (Math.abs(firstMs - change) > Math.abs(forwardMs)) continue
    if (expression.isPaced) return 'pace'
    // Ours comes at the first moment after the gap; theirs is put off by its length.
    if (ours === change && theirs > ours && theirs < ours + forwardMs) return 'skipped hour'
    // Of two hours that come twice theirs leaves out the first only.
    const isRepeated = theirs < ours && theirs >= change && theirs < change - forwardMs
    return isRepeated && forwardMs < -HOUR_MS ? 'repeated hour' : null
  }
  return null
}

test('ticks as cron-parser does, but for the rules of the reference', () => {
  const random = new SeededRandom(3)
  const seen = new Map<string, number>()
  const see = (rule: string) => seen.set(rule, (seen.get(rule) ?? 0) + 1)
  const unexplained: string[] = []
  for (let i = 0; i < EXPRESSIONS; i += 1) {
    const text = anyExpression(random)
    const zone = random.chance(0.05) ? TWO_HOURS : random.pick(ZONES)
    const schedule = cronScheduleOf({ cronExpression: text, timeZone: zone })
    if ('problem' in schedule) {
      expect(schedule.problem).toMatch(/^never comes/)
      expect(() => CronExpressionParser.parse(asTheirs(text).text), text).toThrow('day of month')
      see('refused by both')
      continue
    }
    const theirText = asTheirs(text)
    theirText.rules.forEach(see)
    const afterMs = anyMoment(random, zone)
    const theirs = theirTicks(theirText.text, zone, afterMs)
    const ours = schedule.between(afterMs, Infinity, theirs.length)
    const at = ours.findIndex((tick, index) => tick !== theirs[index])
    if (at === -1) {
      see('agreed')
      continue
    }
    const [our = 0, their = 0] = [ours[at], theirs[at]]
    const rule = clockRule(schedule, our, their)
    if (rule !== null) see(rule)
    else {
      const [ourTick, theirTick] = [our, their].map((ms) => new Date(ms).toISOString())
      unexplained.push(`${text} in ${zone}: ours ${ourTick}, theirs ${theirTick}`)
    }
  }
  expect(unexplained).toEqual([])
  const { agreed = 0, ...rules } = Object.fromEntries(seen)
  expect(agreed).toBeGreaterThan(EXPRESSIONS * 0.9)
  expect(new Set(Object.keys(rules))).toEqual(
    new Set(['refused by both', ...DAY_RULES, ...CLOCK_RULES, 'named twice']),
  )
})
