import { toString as describeText } from 'cronstrue'
import { LruCache } from '../lru-cache.ts'
import { type CronExpression, parseCronExpression } from './cron-expression.ts'

/** The values that a field can have. */
interface Domain {
  readonly first: number
  readonly last: number
  /** Whether evenly spaced values are described by their distance; names say more about weekdays and months. */
  readonly hasSteps: boolean
}

const MINUTES: Domain = { first: 0, last: 59, hasSteps: true }
const HOURS: Domain = { first: 0, last: 23, hasSteps: true }
const DAYS_OF_MONTH: Domain = { first: 1, last: 31, hasSteps: true }
const MONTHS: Domain = { first: 1, last: 12, hasSteps: false }
const DAYS_OF_WEEK: Domain = { first: 0, last: 6, hasSteps: false }

/** Fewer values than this are listed one by one. */
const STEPS_MIN = 3
/** Fewer consecutive values than this are listed one by one. */
const RUN_MIN = 3
/** Two consecutive hours with several ticks each are a period of time. */
const STRETCH_MIN = 2
const MIDNIGHT = 'At 00:00, '
const SATURDAY = 6
const SUNDAY_AS_END = 7
/** A page of crons is described at once, and again for each reader. */
const DESCRIPTIONS_KEPT_MAX = 2_000
/** The part that differs most. */
const ONCE_A_DAY = /^(\d+) (\d+) \* \* \*$/

const descriptions = new LruCache<string, string>(DESCRIPTIONS_KEPT_MAX)
const parts = new LruCache<string, string>(DESCRIPTIONS_KEPT_MAX)

/** Describes an expression given as text; one that cannot be described is returned as it is. Never throws. */
export function describeExpression(text: string): string {
  const known = descriptions.get(text)
  if (known !== undefined) return known
  const described = inEnglish(text) ?? text
  descriptions.set(text, described)
  return described
}

/** null for what is no expression, and where cronstrue fails: a cron is listed with its neighbours in any case. */
function inEnglish(text: string): string | null {
  const expression = parseCronExpression(text)
  if ('problem' in expression) return null
  try {
    return describeCron(expression)
  } catch {
    return null
  }
}

/**
 * An expression in English, with a 24-hour clock: `At 09:00, on day 1 of the month or on Monday`. It describes the times
 * meant, not how they are written. cronstrue describes one part at a time, because it joins two day fields with "and".
 */
export function describeCron(expression: CronExpression): string {
  const { minutes, hours, months } = expression
  const hoursText = textOf(HOURS, hours, minutes.length > 1 ? STRETCH_MIN : RUN_MIN)
  const time = describe(`${textOf(MINUTES, minutes)} ${hoursText} * * *`)
  const month = describePart(`0 0 * ${textOf(MONTHS, months)} *`)
  return [time, describeDays(expression), month].filter((part) => part !== '').join(', ')
}

/** '' for every day. */
function describeDays({ daysOfMonth, daysOfWeek, isEitherDay }: CronExpression): string {
  const ofMonth = describePart(`0 0 ${textOf(DAYS_OF_MONTH, daysOfMonth)} * *`)
  const ofWeek = describePart(`0 0 * * ${weekdaysText(daysOfWeek)}`)
  // If either day will do and one of them is any day, every day matches.
  if (isEitherDay)
    return ofMonth === '' || ofWeek === '' ? '' : `${ofMonth} or ${ofWeek.replace('only ', '')}`
  return ofMonth === '' ? ofWeek : ofMonth
}

/** The text behind the time; '' for none. */
function describePart(text: string): string {
  const described = describe(text)
  return described.startsWith(MIDNIGHT) ? described.slice(MIDNIGHT.length) : ''
}

/** Kept, because cronstrue takes a fifth of a millisecond and crons differ in few parts. */
function describe(text: string): string {
  const once = ONCE_A_DAY.exec(text)
  if (once !== null) return `At ${once[2]?.padStart(2, '0')}:${once[1]?.padStart(2, '0')}`
  const known = parts.get(text)
  if (known !== undefined) return known
  const described = describeText(text, { use24HourTimeFormat: true })
  parts.set(text, described)
  return described
}

/** Days on both sides of the week's end are consecutive: Friday through Sunday. */
function weekdaysText(days: ReadonlySet<number>): string {
  const isOverTheEnd = days.has(0) && days.has(SATURDAY) && days.size < SUNDAY_AS_END
  return textOf(DAYS_OF_WEEK, isOverTheEnd ? [...days].map((day) => day || SUNDAY_AS_END) : days)
}

/** The shortest field with these values, in forms that cronstrue reads as we do. */
function textOf(domain: Domain, given: Iterable<number>, runMin: number = RUN_MIN): string {
  const values = [...given].toSorted((a, b) => a - b)
  if (values.length === domain.last - domain.first + 1) return '*'
  return (domain.hasSteps ? stepsText(domain, values) : null) ?? runsText(values, runMin)
}

/** null if the values are not evenly spaced. */
function stepsText({ first, last }: Domain, values: readonly number[]): string | null {
  const [from, second] = values
  const to = values.at(-1)
  if (from === undefined || second === undefined || to === undefined) return null
  const step = second - from
  if (step === 1 || values.some((value, index) => value !== from + index * step)) return null
  const isOpen = to + step > last
  // Every half hour is an interval; two other minutes are just two minutes.
  const isPace = isOpen && from === first && (last - first + 1) % step === 0
  if (values.length < STEPS_MIN && !isPace) return null
  return isOpen && from === first ? `*/${step}` : `${from}-${to}/${step}`
}

function runsText(values: readonly number[], runMin: number): string {
  const runs: number[][] = []
  for (const value of values) {
    const run = runs.at(-1)
    if (run?.at(-1) === value - 1) run.push(value)
    else runs.push([value])
  }
  return runs
    .flatMap((run) => (run.length < runMin ? run.map(String) : [`${run[0]}-${run.at(-1)}`]))
    .join(',')
}
