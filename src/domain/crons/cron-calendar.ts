/**
 * The days on which a cron ticks, in the proleptic Gregorian calendar. A day is the Unix ms of its midnight, as if local
 * times were UTC. Months without a day that matches cost a step each, and days nothing: from one 29 February to the next
 * are four or eight steps.
 */
import type { CronExpression } from './cron-expression.ts'

const DAY_MS = 86_400_000
const MONTHS_PER_YEAR = 12
const DAYS_PER_WEEK = 7
/** 1 January 1970 was a Thursday. */
const EPOCH_WEEKDAY = 4
/** Days from 1 March of the year 0 to 1 January 1970. */
const EPOCH_FROM_MARCH = 719_468
const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const

type Days = Pick<CronExpression, 'months' | 'daysOfMonth' | 'daysOfWeek' | 'isEitherDay'>

/** The first day that matches, from one on and before a time; null = there is none. */
export function nextDay(expression: Days, fromDayMs: number, beforeMs: number): number | null {
  const from = new Date(fromDayMs)
  let year = from.getUTCFullYear()
  let month = from.getUTCMonth() + 1
  let least = from.getUTCDate()
  for (;;) {
    const wanted = monthFrom(expression, month)
    if (wanted !== month) least = 1
    if (wanted < month) year += 1
    const first = firstOf(year, wanted)
    const firstMs = first * DAY_MS
    if (firstMs >= beforeMs) return null
    const weekday = modulo(first + EPOCH_WEEKDAY, DAYS_PER_WEEK)
    const day = dayIn(expression, { weekday, length: lengthOf(year, wanted) }, least)
    if (day !== null) {
      const dayMs = firstMs + (day - 1) * DAY_MS
      return dayMs < beforeMs ? dayMs : null
    }
    month = wanted + 1
    least = 1
  }
}

/** The first month of the expression from one on, or else its first one, of the next year. @param month 1–13 */
function monthFrom({ months }: Days, month: number): number {
  if (months.has(month)) return month
  return firstFrom(months, month) ?? firstFrom(months, 1) ?? month
}

interface Month {
  /** Weekday of the month's first day; 0 is Sunday. */
  readonly weekday: number
  readonly length: number
}

/** The first day of a month that matches, from one on; null = there is none. */
function dayIn(expression: Days, month: Month, least: number): number | null {
  let ofMonth = dayOfMonthIn(expression, month, least)
  let ofWeek = dayOfWeekIn(expression, month, least)
  if (expression.isEitherDay) {
    return ofMonth === null || ofWeek === null ? (ofMonth ?? ofWeek) : Math.min(ofMonth, ofWeek)
  }
  // One of them is open, so that both meet at once.
  while (ofMonth !== null && ofWeek !== null && ofMonth !== ofWeek) {
    if (ofMonth < ofWeek) ofMonth = dayOfMonthIn(expression, month, ofWeek)
    else ofWeek = dayOfWeekIn(expression, month, ofMonth)
  }
  return ofWeek === null ? null : ofMonth
}

function dayOfMonthIn({ daysOfMonth }: Days, { length }: Month, least: number): number | null {
  const day = daysOfMonth.has(least) ? least : firstFrom(daysOfMonth, least)
  return day === null || day > length ? null : day
}

function dayOfWeekIn({ daysOfWeek }: Days, { weekday, length }: Month, least: number): number | null {
  const last = Math.min(length, least + DAYS_PER_WEEK - 1)
  for (let day = least; day <= last; day += 1) {
    if (daysOfWeek.has((weekday + day - 1) % DAYS_PER_WEEK)) return day
  }
  return null
}

/** @param values ascending */
function firstFrom(values: ReadonlySet<number>, least: number): number | null {
  for (const value of values) if (value >= least) return value
  return null
}

/** The first day of a month, in days since 1970; `Date.UTC` takes the years 0 to 99 for others. */
function firstOf(year: number, month: number): number {
  // Counted from March on, leap days come last (Howard Hinnant, days_from_civil).
  const yearFromMarch = month <= 2 ? year - 1 : year
  const monthFromMarch = modulo(month - 3, MONTHS_PER_YEAR)
  const centuries = Math.floor(yearFromMarch / 100)
  const leapDays = Math.floor(yearFromMarch / 4) - centuries + Math.floor(centuries / 4)
  return yearFromMarch * 365 + leapDays + Math.floor((153 * monthFromMarch + 2) / 5) - EPOCH_FROM_MARCH
}

function lengthOf(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return month === 2 && isLeap ? 29 : (MONTH_DAYS[month - 1] ?? 0)
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by
}
