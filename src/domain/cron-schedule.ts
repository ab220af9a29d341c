import type { CronExpression } from './cron-expression.ts'
import type { OffsetSpan, TimeZone } from './time-zone.ts'

/**
 * When a cron ticks. Ticks are whole minutes of the zone's own clock.
 *
 * Where the clock is put forward, a tick in the hour that does not exist comes once, at the first moment after it.
 * Where it is put back, a tick in the hour that comes twice comes once, the first time. An expression whose minute or
 * hour repeats (`*` or a step) keeps its pace instead: nothing for minutes that do not exist, both times for those
 * that come twice.
 */
export interface CronSchedule {
  readonly expression: CronExpression
  readonly zone: TimeZone
  /** The first tick after that moment; Unix ms. null past the years that dates have. */
  next(afterMs: number): number | null
  /** The last tick at or before that moment; null when there is none in the 9 years before. */
  latest(atMs: number): number | null
  /** Ticks after the first moment and up to the second one, oldest first, at most `limit`. */
  between(afterMs: number, untilMs: number, limit: number): number[]
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** 29 February can be eight years away (1896 to 1904, 2096 to 2104). */
const HORIZON_MS = 9 * 366 * DAY_MS
/** How far back `latest` looks, step by step, so that it seldom walks over many ticks. */
const LOOKBACKS_MS = [HOUR_MS, DAY_MS, 32 * DAY_MS, 367 * DAY_MS, HORIZON_MS]

export function createCronSchedule(expression: CronExpression, zone: TimeZone): CronSchedule {
  const next = remembering((afterMs) => nextTick(expression, zone, afterMs))
  return {
    expression,
    zone,
    next,
    latest: (atMs) => {
      for (const lookbackMs of LOOKBACKS_MS) {
        let latest: number | null = null
        let tick = next(atMs - lookbackMs - 1)
        while (tick !== null && tick <= atMs) {
          latest = tick
          tick = next(tick)
        }
        if (latest !== null) return latest
      }
      return null
    },
    between: (afterMs, untilMs, limit) => {
      const ticks: number[] = []
      let tick = next(afterMs)
      while (tick !== null && tick <= untilMs && ticks.length < limit) {
        ticks.push(tick)
        tick = next(tick)
      }
      return ticks
    },
  }
}

/** Crons with one schedule ask for the same moments at the same time. */
const MOMENTS_REMEMBERED_MAX = 8

function remembering(next: (afterMs: number) => number | null): (afterMs: number) => number | null {
  const remembered = new Map<number, number | null>()
  return (afterMs) => {
    let tick = remembered.get(afterMs)
    if (tick === undefined) {
      tick = next(afterMs)
      if (remembered.size >= MOMENTS_REMEMBERED_MAX) remembered.clear()
      remembered.set(afterMs, tick)
    }
    return tick
  }
}

function nextTick(expression: CronExpression, zone: TimeZone, afterMs: number): number | null {
  const horizonMs = afterMs + HORIZON_MS
  let fromMs = afterMs + 1
  while (fromMs <= horizonMs) {
    const span = zone.spanAt(fromMs)
    const tick = tickInSpan(expression, span, fromMs, horizonMs)
    if (tick !== null) return tick
    fromMs = span.endMs
  }
  return null
}

/** The first tick of a span at or after `fromMs`, which lies in it. */
function tickInSpan(
  expression: CronExpression,
  { startMs, endMs, offsetMs, formerOffsetMs }: OffsetSpan,
  fromMs: number,
  horizonMs: number,
): number | null {
  const untilMs = Math.min(endMs, horizonMs)
  let fromLocalMs = fromMs + offsetMs
  if (!expression.isPaced && formerOffsetMs !== offsetMs) {
    const formerEndLocalMs = startMs + formerOffsetMs
    const hasSkipped = fromMs === startMs && formerOffsetMs < offsetMs
    if (hasSkipped && nextLocal(expression, formerEndLocalMs, startMs + offsetMs) !== null) return startMs
    // What the clock shows again has had its ticks.
    fromLocalMs = Math.max(fromLocalMs, formerEndLocalMs)
  }
  const localMs = nextLocal(expression, fromLocalMs, untilMs + offsetMs)
  return localMs === null ? null : localMs - offsetMs
}

/** The first fitting minute from one local time on and before another; local times are written as if they were UTC. */
function nextLocal(expression: CronExpression, fromMs: number, beforeMs: number): number | null {
  const firstMs = Math.ceil(fromMs / MINUTE_MS) * MINUTE_MS
  let dayMs = Math.floor(firstMs / DAY_MS) * DAY_MS
  let minuteOfDay = (firstMs - dayMs) / MINUTE_MS
  while (dayMs < beforeMs) {
    const day = new Date(dayMs)
    if (!expression.months.has(day.getUTCMonth() + 1)) {
      dayMs = Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1)
    } else {
      const found = isTickDay(expression, day) ? nextMinute(expression, minuteOfDay) : null
      if (found !== null) {
        const localMs = dayMs + found * MINUTE_MS
        return localMs < beforeMs ? localMs : null
      }
      dayMs += DAY_MS
    }
    minuteOfDay = 0
  }
  return null
}

function isTickDay({ daysOfMonth, daysOfWeek, isEitherDay }: CronExpression, day: Date): boolean {
  const isOfMonth = daysOfMonth.has(day.getUTCDate())
  const isOfWeek = daysOfWeek.has(day.getUTCDay())
  return isEitherDay ? isOfMonth || isOfWeek : isOfMonth && isOfWeek
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
