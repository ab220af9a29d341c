import { nextDay } from './cron-calendar.ts'
import type { CronExpression } from './cron-expression.ts'
import { LruCache } from '../lru-cache.ts'
import type { OffsetSpan, TimeZone } from './time-zone.ts'

export interface TickCount {
  readonly count: number
  /** The last tick counted; null = none. */
  readonly lastMs: number | null
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const MINUTES_PER_DAY = 24 * 60
/** 29 February can be eight years away (1896 to 1904, 2096 to 2104). */
const HORIZON_MS = 9 * 366 * DAY_MS
/** Crons with the same schedule ask for the same moments at the same time. */
const MOMENTS_CACHED_MAX = 8

/**
 * The times at which a cron ticks. Ticks are whole minutes of the zone's own clock; all times are Unix ms.
 *
 * If the clock is put forward, a tick in the skipped hour comes once, at the first moment after it. If it is put back,
 * a tick in the repeated hour comes once, the first time. An expression whose minute or hour repeats (`*` or a step)
 * keeps its pace instead: it has no ticks in skipped minutes, and ticks in both passes of repeated ones.
 */
export class CronSchedule {
  readonly expression: CronExpression
  readonly zone: TimeZone
  readonly #ticks = new LruCache<number, number | null>(MOMENTS_CACHED_MAX)

  constructor(expression: CronExpression, zone: TimeZone) {
    this.expression = expression
    this.zone = zone
  }

  /** The first tick after that moment; null beyond the range of `Date`. */
  next(afterMs: number): number | null {
    let tick = this.#ticks.get(afterMs)
    if (tick === undefined) {
      tick = nextTick(this.expression, this.zone, afterMs)
      this.#ticks.set(afterMs, tick)
    }
    return tick
  }

  /** Ticks after the first moment and up to the second one, oldest first, at most `limit`. */
  between(afterMs: number, untilMs: number, limit: number): number[] {
    const ticks: number[] = []
    let tick = this.next(afterMs)
    while (tick !== null && tick <= untilMs && ticks.length < limit) {
      ticks.push(tick)
      tick = this.next(tick)
    }
    return ticks
  }

  /** Counts those ticks, at most `limit`, day by day: the cost does not grow with how often the cron ticks. */
  count(afterMs: number, untilMs: number, limit: number): TickCount {
    return countTicks(this.expression, this.zone, { afterMs, untilMs, limit })
  }
}

/**
 * Looks for the next local time that matches, and only then for the span it lies in: of all the changes of the clock
 * before a rare tick none is looked at but the last.
 */
function nextTick(expression: CronExpression, zone: TimeZone, afterMs: number): number | null {
  const horizonMs = afterMs + HORIZON_MS
  let fromMs = afterMs + 1
  while (fromMs <= horizonMs) {
    const span = zone.spanAt(fromMs)
    if (isMadeUpFor(expression, span, fromMs)) return span.startMs
    const localMs = nextLocal(expression, localFrom(expression, span, fromMs), horizonMs + span.offsetMs)
    if (localMs !== null && localMs - span.offsetMs < span.endMs) return localMs - span.offsetMs
    // A local time comes again, or is skipped, within two days: an offset is less than one. Further on, nothing matches
    // before the time that was found, which is at most a day later by the clock of UTC.
    const isNear = span.endMs - fromMs <= 2 * DAY_MS
    fromMs = isNear ? span.endMs : Math.max(span.endMs, (localMs ?? horizonMs + 2 * DAY_MS) - DAY_MS)
  }
  return null
}

/** Whether a tick in the hour that was skipped before this span comes at the span's first moment. */
function isMadeUpFor(
  expression: CronExpression,
  { startMs, offsetMs, formerOffsetMs }: OffsetSpan,
  fromMs: number,
): boolean {
  if (expression.isPaced || fromMs !== startMs || formerOffsetMs >= offsetMs) return false
  return nextLocal(expression, startMs + formerOffsetMs, startMs + offsetMs) !== null
}

/** The local time at which to begin in a span: times that the clock shows again have had their ticks. */
function localFrom(
  expression: CronExpression,
  { startMs, offsetMs, formerOffsetMs }: OffsetSpan,
  fromMs: number,
): number {
  const fromLocalMs = fromMs + offsetMs
  if (expression.isPaced || formerOffsetMs === offsetMs) return fromLocalMs
  return Math.max(fromLocalMs, startMs + formerOffsetMs)
}

function countTicks(
  expression: CronExpression,
  zone: TimeZone,
  { afterMs, untilMs, limit }: { afterMs: number; untilMs: number; limit: number },
): TickCount {
  let count = 0
  let lastMs: number | null = null
  let fromMs = afterMs + 1
  while (fromMs <= untilMs && count < limit) {
    const span = zone.spanAt(fromMs)
    if (isMadeUpFor(expression, span, fromMs)) {
      count += 1
      lastMs = fromMs
      fromMs += 1
    }
    const beforeLocalMs = Math.min(span.endMs, untilMs + 1) + span.offsetMs
    const local = countLocal(expression, localFrom(expression, span, fromMs), beforeLocalMs, limit - count)
    count += local.count
    if (local.lastMs !== null) lastMs = local.lastMs - span.offsetMs
    fromMs = span.endMs
  }
  return { count, lastMs }
}

/** The first matching minute from one local time on and before another; local times are written as if they were UTC. */
function nextLocal(expression: CronExpression, fromMs: number, beforeMs: number): number | null {
  const firstMs = Math.ceil(fromMs / MINUTE_MS) * MINUTE_MS
  const firstDayMs = Math.floor(firstMs / DAY_MS) * DAY_MS
  let dayMs = nextDay(expression, firstDayMs, beforeMs)
  if (dayMs === null) return null
  let found = nextMinute(expression, dayMs === firstDayMs ? (firstMs - dayMs) / MINUTE_MS : 0)
  if (found === null) {
    dayMs = nextDay(expression, dayMs + DAY_MS, beforeMs)
    // Every other day that matches has a minute that does.
    found = nextMinute(expression, 0)
  }
  if (dayMs === null || found === null) return null
  const localMs = dayMs + found * MINUTE_MS
  return localMs < beforeMs ? localMs : null
}

/** The matching minutes from one local time on and before another, at most `limit`. */
function countLocal(expression: CronExpression, fromMs: number, beforeMs: number, limit: number): TickCount {
  const firstMs = Math.ceil(fromMs / MINUTE_MS) * MINUTE_MS
  const firstDayMs = Math.floor(firstMs / DAY_MS) * DAY_MS
  let count = 0
  let lastMs: number | null = null
  let dayMs = nextDay(expression, firstDayMs, beforeMs)
  while (dayMs !== null && count < limit) {
    const firstMinute = dayMs === firstDayMs ? (firstMs - dayMs) / MINUTE_MS : 0
    const endMinute = Math.min(MINUTES_PER_DAY, Math.ceil((beforeMs - dayMs) / MINUTE_MS))
    const passed = minutesBefore(expression, firstMinute)
    const added = Math.min(minutesBefore(expression, endMinute) - passed, limit - count)
    if (added > 0) lastMs = dayMs + nthMinute(expression, passed + added - 1) * MINUTE_MS
    count += Math.max(0, added)
    dayMs = nextDay(expression, dayMs + DAY_MS, beforeMs)
  }
  return { count, lastMs }
}

/** Minutes since midnight. */
function nextMinute({ hours, minutes }: CronExpression, from: number): number | null {
  const fromHour = Math.floor(from / 60)
  for (const hour of hours) {
    if (hour < fromHour) continue
    const least = hour === fromHour ? from % 60 : 0
    const minute = minutes.find((one) => one >= least)
    if (minute !== undefined) return hour * 60 + minute
  }
  return null
}

/** How many of a day's matching minutes are before one; minutes since midnight. */
function minutesBefore({ hours, minutes }: CronExpression, minuteOfDay: number): number {
  if (minuteOfDay === MINUTES_PER_DAY) return hours.length * minutes.length
  const hour = Math.floor(minuteOfDay / 60)
  const ofHoursBefore = hours.filter((one) => one < hour).length * minutes.length
  return ofHoursBefore + (hours.includes(hour) ? minutes.filter((one) => one < minuteOfDay % 60).length : 0)
}

/** The nth of a day's matching minutes, from 0; minutes since midnight. */
function nthMinute({ hours, minutes }: CronExpression, nth: number): number {
  return (hours[Math.floor(nth / minutes.length)] ?? 0) * 60 + (minutes[nth % minutes.length] ?? 0)
}
