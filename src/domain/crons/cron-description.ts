import { toString as describeText } from 'cronstrue'
import type { CronExpression } from './cron-expression.ts'

/** The values one field may have. */
interface Domain {
  readonly first: number
  readonly last: number
  /** Whether evenly spaced values are told by their distance; of a few weekdays or months the names say more. */
  readonly hasSteps: boolean
}

const MINUTES: Domain = { first: 0, last: 59, hasSteps: true }
const HOURS: Domain = { first: 0, last: 23, hasSteps: true }
const DAYS_OF_MONTH: Domain = { first: 1, last: 31, hasSteps: true }
const MONTHS: Domain = { first: 1, last: 12, hasSteps: false }
const DAYS_OF_WEEK: Domain = { first: 0, last: 6, hasSteps: false }

/** Fewer values than this are named one by one. */
const STEPS_MIN = 3
/** A run of fewer values than this is a list. */
const RUN_MIN = 3
/** Of hours with several ticks each two make a stretch of time. */
const STRETCH_MIN = 2
const MIDNIGHT = 'At 00:00, '
const SATURDAY = 6
const SUNDAY_AS_END = 7

/**
 * What an expression says, in English, by a clock of 24 hours: `At 09:00, on day 1 of the month or on Monday`. It goes
 * by the times meant, not by how they are written. Each part is described for itself, as the describing library takes
 * two day fields for "and".
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
  // Either of two, one of which is every day, is every day.
  if (isEitherDay)
    return ofMonth === '' || ofWeek === '' ? '' : `${ofMonth} or ${ofWeek.replace('only ', '')}`
  return ofMonth === '' ? ofWeek : ofMonth
}

/** What stands behind the time; '' for nothing. */
function describePart(text: string): string {
  const described = describe(text)
  return described.startsWith(MIDNIGHT) ? described.slice(MIDNIGHT.length) : ''
}

function describe(text: string): string {
  return describeText(text, { use24HourTimeFormat: true })
}

/** A week that goes over its end is one run: Friday through Sunday. */
function weekdaysText(days: ReadonlySet<number>): string {
  const isOverTheEnd = days.has(0) && days.has(SATURDAY) && days.size < SUNDAY_AS_END
  return textOf(DAYS_OF_WEEK, isOverTheEnd ? [...days].map((day) => day || SUNDAY_AS_END) : days)
}

/** The shortest field with these values, without any form that the library reads otherwise than we do. */
function textOf(domain: Domain, given: Iterable<number>, runMin: number = RUN_MIN): string {
  const values = [...given].toSorted((a, b) => a - b)
  if (values.length === domain.last - domain.first + 1) return '*'
  return (domain.hasSteps ? stepsText(domain, values) : null) ?? runsText(values, runMin)
}

/** null when the values are not evenly spaced. */
function stepsText({ first, last }: Domain, values: readonly number[]): string | null {
  const [from, second] = values
  const to = values.at(-1)
  if (from === undefined || second === undefined || to === undefined) return null
  const step = second - from
  if (step === 1 || values.some((value, index) => value !== from + index * step)) return null
  const isOpen = to + step > last
  // Every half hour is a pace; two other minutes are two minutes.
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
