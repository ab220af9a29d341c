import { formatStamp } from '../../format/times.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const TIME_STEPS = [
  MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  2 * DAY,
  7 * DAY,
]

/** Steps for durations of half a second and more, which people do not count in tens. */
const SPANS = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * 1_000),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12, 24, 48, 96, 168].map((hours) => hours * HOUR),
]

/**
 * Round values from 0 up to the first that is not below `max`, `count` steps at most.
 *
 * @param unitMs of durations, how long 1 is; absent = other values
 */
export function valueTicks(max: number, count: number, unitMs?: number): readonly number[] {
  if (!(max > 0)) return [0, 1]
  const raw = max / count
  const power = 10 ** Math.floor(Math.log10(raw))
  const span = unitMs === undefined || raw * unitMs < 500 ? undefined : SPANS.find((ms) => ms >= raw * unitMs)
  const decimal = power * ([1, 2, 5].find((factor) => factor * power >= raw * 0.999) ?? 10)
  const step = span === undefined ? decimal : span / (unitMs ?? 1)
  const steps = Math.ceil(max / step - 0.001)
  // Multiplied and not added up, or 0.1 + 0.2 would have many digits.
  return Array.from({ length: steps + 1 }, (_, index) => Number((index * step).toPrecision(12)))
}

export interface TimeTick {
  readonly at: number
  readonly label: string
}

/** Times that are round in a zone, `count` at most; a day begins with its date. */
export function timeTicks(fromMs: number, toMs: number, count: number, zone: string): readonly TimeTick[] {
  const step = TIME_STEPS.find((ms) => (toMs - fromMs) / ms <= count) ?? 30 * DAY
  const wallMs = Date.parse(`${formatStamp(fromMs, zone).replace(' ', 'T')}Z`)
  const offsetMs = wallMs - Math.floor(fromMs / 1_000) * 1_000
  const ticks: TimeTick[] = []
  for (let at = Math.ceil(wallMs / step) * step - offsetMs; at <= toMs; at += step) {
    const stamp = formatStamp(at, zone)
    const time = stamp.slice(11, 16)
    ticks.push({ at, label: time === '00:00' || step >= DAY ? stamp.slice(5, 10) : time })
  }
  return ticks
}

/** The index of the time that is next to `at`. @param times ascending */
export function nearest(times: readonly number[], at: number): number | null {
  let best: number | null = null
  for (const [index, time] of times.entries()) {
    if (best === null || Math.abs(time - at) < Math.abs((times[best] ?? 0) - at)) best = index
  }
  return best
}
