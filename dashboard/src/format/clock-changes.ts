import { offsetMs } from './local-input.ts'
import { formatStamp } from './times.ts'

/** A moment at which the clocks of a zone are put forward or back. */
export interface ClockChange {
  readonly atMs: number
  /** Local time minus UTC. */
  readonly beforeMs: number
  readonly afterMs: number
}

const DAY_MS = 86_400_000
/** Not every zone keeps its time for months: some suspend it for four weeks. */
const STEP_MS = 7 * DAY_MS
const YEAR_MS = 366 * DAY_MS

/** After the first moment and up to the second one, oldest first. @param zone of an IANA name */
export function clockChanges(fromMs: number, toMs: number, zone: string): ClockChange[] {
  const changes: ClockChange[] = []
  for (let at = fromMs; at < toMs; at += STEP_MS) {
    const end = Math.min(at + STEP_MS, toMs)
    if (offsetMs(at, zone) !== offsetMs(end, zone)) changes.push(changeWithin(at, end, zone))
  }
  return changes
}

/** The first one within a year; null for a zone whose clocks stay. */
export function nextClockChange(fromMs: number, zone: string): ClockChange | null {
  return clockChanges(fromMs, fromMs + YEAR_MS, zone)[0] ?? null
}

function changeWithin(fromMs: number, toMs: number, zone: string): ClockChange {
  const beforeMs = offsetMs(fromMs, zone)
  let [low, high] = [fromMs, toMs]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetMs(middle, zone) === beforeMs) low = middle
    else high = middle
  }
  return { atMs: high, beforeMs, afterMs: offsetMs(high, zone) }
}

/** The day that is shorter or longer by it, such as `2027-03-28`. */
export function dayOfChange({ atMs, afterMs }: ClockChange): string {
  return localTime(atMs, afterMs).slice(0, 10)
}

/** Such as `clocks go forward, 02:00 → 03:00`. */
export function changeText({ atMs, beforeMs, afterMs }: ClockChange): string {
  const [from, to] = [beforeMs, afterMs].map((offset) => localTime(atMs, offset).slice(11, 16))
  return `clocks go ${afterMs > beforeMs ? 'forward' : 'back'}, ${from} → ${to}`
}

function localTime(atMs: number, offset: number): string {
  return new Date(atMs + offset).toISOString()
}

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']

/** @param day such as `2027-03-28` */
export function weekdayOf(day: string): string {
  return WEEKDAYS[new Date(`${day}T00:00Z`).getUTCDay()] ?? ''
}

/** The first day of the week of a day. */
export function mondayOf(day: string): string {
  const date = new Date(`${day}T00:00Z`)
  date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7))
  return date.toISOString().slice(0, 10)
}

/** Such as `Sun 03-28 03:00`, and `Sun 2027-03-28 03:00` of another year than that of `nowMs`. */
export function formatDayTime(atMs: number, nowMs: number, zone: string): string {
  const [stamp, now] = [atMs, nowMs].map((ms) => formatStamp(ms, zone).slice(0, 16)) as [string, string]
  const isSameYear = stamp.slice(0, 4) === now.slice(0, 4)
  return `${weekdayOf(stamp.slice(0, 10))} ${isSameYear ? stamp.slice(5) : stamp}`
}

/** Such as `UTC+1` and `UTC−3:30`. */
export function offsetText(atMs: number, zone: string): string {
  const minutes = offsetMs(atMs, zone) / 60_000
  if (minutes === 0) return 'UTC'
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `UTC${minutes < 0 ? '−' : '+'}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`
}
