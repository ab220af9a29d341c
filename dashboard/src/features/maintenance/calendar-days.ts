import type { WindowCalendar } from '../../../../clients/typescript/src/client.ts'
import { mondayOf, weekdayOf } from '../../format/clock-changes.ts'
import { fromLocalInput } from '../../format/local-input.ts'
import { formatStamp } from '../../format/times.ts'

export type View = 'week' | 'month'
type Opening = WindowCalendar['openings'][number]

export interface Day {
  /** Such as `2026-11-23`. */
  readonly date: string
  readonly startMs: number
  readonly endMs: number
}

/** What of an opening lies in a day. */
export interface Piece {
  readonly windowId: string
  /** Such as `22:00`; null = it has begun before the day, or ends after it. */
  readonly from: string | null
  readonly to: string | null
  /** Where it begins and ends in the day, from 0 to 1. */
  readonly begin: number
  readonly end: number
  /** Which of `lanes` beside each other it takes. */
  readonly lane: number
  readonly lanes: number
}

const DAY_MS = 86_400_000
const MONTHS = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })

/** Whole weeks, from Monday on. @param date one of the days meant @param zone of an IANA name */
export function daysOf(view: View, date: string, zone: string): Day[] {
  const isMonth = view === 'month'
  const first = mondayOf(isMonth ? `${date.slice(0, 8)}01` : date)
  const last = isMonth ? added(moved(view, date, 1), -1) : first
  const dates: string[] = []
  for (let day = first; day <= last || dates.length % 7 !== 0; day = added(day, 1)) dates.push(day)
  return dates.map((day) => ({
    date: day,
    startMs: startOf(day, zone),
    endMs: startOf(added(day, 1), zone),
  }))
}

/** A day of the week or month before or after. */
export function moved(view: View, date: string, step: 1 | -1): string {
  if (view === 'week') return added(date, 7 * step)
  const [year = 0, month = 1] = date.split('-').map(Number)
  return new Date(Date.UTC(year, month - 1 + step, 1)).toISOString().slice(0, 10)
}

export function titleOf(view: View, date: string): string {
  const monday = mondayOf(date)
  return view === 'month'
    ? MONTHS.format(new Date(`${date}T00:00Z`))
    : `${monday} – ${added(monday, 6).slice(5)}`
}

/** The pieces of openings in a day, by their begin; those that overlap stand beside each other. */
export function piecesOf(openings: readonly Opening[], { startMs, endMs }: Day, zone: string): Piece[] {
  const clock = (ms: number): string => formatStamp(ms, zone).slice(11, 16)
  const part = (ms: number): number => (Math.min(endMs, Math.max(startMs, ms)) - startMs) / (endMs - startMs)
  const pieces: Piece[] = []
  // The current group of overlapping pieces: where each of its lanes ends, and the index of its first piece.
  let [ends, first] = [[] as number[], 0]
  for (const opening of openings) {
    const [from, to] = [Date.parse(opening.start_at), Date.parse(opening.end_at)]
    if (from >= endMs || to <= startMs) continue
    if (ends.every((end) => end <= from)) [ends, first] = [[], pieces.length]
    const free = ends.findIndex((end) => end <= from)
    const lane = free === -1 ? ends.length : free
    ends[lane] = to
    pieces.push({
      windowId: opening.window_id,
      from: from < startMs ? null : clock(from),
      to: to > endMs ? null : clock(to),
      begin: part(from),
      end: part(to),
      lane,
      lanes: 1,
    })
    for (let at = first; at < pieces.length; at += 1) {
      pieces[at] = { ...(pieces[at] as Piece), lanes: ends.length }
    }
  }
  return pieces
}

/** Such as `Wed 11-25`. */
export function dayText(date: string): string {
  return `${weekdayOf(date)} ${date.slice(5)}`
}

/** The day of a moment in a zone. */
export function dateOf(atMs: number, zone: string): string {
  return formatStamp(atMs, zone).slice(0, 10)
}

function startOf(date: string, zone: string): number {
  return Date.parse(fromLocalInput(`${date}T00:00`, zone) ?? '')
}

function added(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00Z`) + days * DAY_MS).toISOString().slice(0, 10)
}
