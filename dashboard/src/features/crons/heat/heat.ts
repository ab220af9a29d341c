import type { CronRun } from '../../../../../clients/typescript/src/client.ts'
import { mondayOf, weekdayOf } from '../../../format/clock-changes.ts'
import { formatStamp } from '../../../format/times.ts'

export interface HeatCell {
  /** Times of the cell's first and last record, as the API writes them. */
  readonly since: string
  readonly until: string
  readonly counts: Readonly<Record<Measure, number>>
}

export interface HeatMap {
  readonly rows: readonly Line[]
  readonly columns: readonly Line[]
  /** Cells fill the width; otherwise they are small squares. */
  readonly isWide: boolean
  cellOf(row: string, column: string): HeatCell | undefined
}

interface Line {
  readonly key: string
  readonly label: string
}

/** ran: runs, however they ended · failed: of them, those that failed · idle: ticks that were skipped or missed */
export type Measure = 'ran' | 'failed' | 'idle'

interface Layout {
  /** It is for records that span at most this time. */
  readonly spanMs: number
  /** Not longer than a row or a column. */
  readonly stepMs: number
  row(stamp: string): string
  column(stamp: string): string
  rowLabel(key: string): string
  columnLabel(key: string, before: string): string
  /** All rows, in order; absent = only the rows from the first record to the last. */
  readonly rows?: readonly string[]
  readonly columns?: readonly string[]
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const two = (number: number): string => String(number).padStart(2, '0')
const numbers = (count: number, factor = 1, first = 0): string[] =>
  Array.from({ length: count }, (_, index) => two(index * factor + first))

/** Each lays cells out by a stamp such as `2026-11-23 14:05:09`; the finest comes first. */
const LAYOUTS: readonly Layout[] = [
  {
    spanMs: 12 * HOUR_MS,
    stepMs: HOUR_MS / 4,
    columns: numbers(12, 5),
    row: (stamp) => stamp.slice(0, 13),
    column: (stamp) => two(Math.floor(Number(stamp.slice(14, 16)) / 5) * 5),
    rowLabel: (key) => `${key.slice(5)}:00`,
    columnLabel: (key) => `:${key}`,
  },
  {
    spanMs: 16 * DAY_MS,
    stepMs: HOUR_MS * 12,
    columns: numbers(24),
    row: (stamp) => stamp.slice(0, 10),
    column: (stamp) => stamp.slice(11, 13),
    rowLabel: (key) => `${weekdayOf(key)} ${key.slice(5)}`,
    columnLabel: (key) => key,
  },
  {
    spanMs: 400 * DAY_MS,
    stepMs: 3 * DAY_MS,
    rows: ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'],
    row: (stamp) => weekdayOf(stamp.slice(0, 10)),
    column: (stamp) => mondayOf(stamp.slice(0, 10)),
    rowLabel: (key) => key,
    columnLabel: (key, before) => (key.slice(5, 7) === before.slice(5, 7) ? '' : key.slice(5)),
  },
  {
    spanMs: Infinity,
    stepMs: 100 * DAY_MS,
    columns: numbers(12, 1, 1),
    row: (stamp) => stamp.slice(0, 4),
    column: (stamp) => stamp.slice(5, 7),
    rowLabel: (key) => key,
    columnLabel: (key) => key,
  },
]

/** The records of runs by hours and minutes, days and hours, weeks and weekdays, or years and months, as they lie apart. */
export function heatMapOf(runs: readonly CronRun[], zone: string): HeatMap | null {
  const times = runs.map((run) => Date.parse(run.scheduled_at))
  const [fromMs, toMs] = [Math.min(...times), Math.max(...times)]
  const layout = LAYOUTS.find(({ spanMs }) => toMs - fromMs <= spanMs)
  if (runs.length === 0 || layout === undefined) return null
  const cells = new Map<string, HeatCell>()
  for (const [index, run] of runs.entries()) {
    const stamp = formatStamp(times[index] ?? 0, zone)
    const key = `${layout.row(stamp)} ${layout.column(stamp)}`
    cells.set(key, added(cells.get(key), run))
  }
  const stamps: string[] = []
  for (let at = fromMs; at < toMs; at += layout.stepMs) stamps.push(formatStamp(at, zone))
  stamps.push(formatStamp(toMs, zone))
  const rows = layout.rows ?? [...new Set(stamps.map(layout.row))]
  const columns = layout.columns ?? [...new Set(stamps.map(layout.column))]
  return {
    rows: rows.map((key) => ({ key, label: layout.rowLabel(key) })),
    columns: columns.map((key, index) => ({
      key,
      label: layout.columnLabel(key, columns[index - 1] ?? ''),
    })),
    isWide: layout.columns !== undefined,
    cellOf: (row, column) => cells.get(`${row} ${column}`),
  }
}

function added(cell: HeatCell | undefined, { scheduled_at: at, result, ticks }: CronRun): HeatCell {
  const { ran, failed, idle } = cell?.counts ?? { ran: 0, failed: 0, idle: 0 }
  const isIdle = result === 'missed' || result === 'skipped'
  return {
    since: cell === undefined || at < cell.since ? at : cell.since,
    until: cell === undefined || at > cell.until ? at : cell.until,
    counts: {
      ran: ran + (isIdle ? 0 : 1),
      failed: failed + (result === 'failed' ? 1 : 0),
      idle: idle + (isIdle ? ticks : 0),
    },
  }
}

/** 1 to 4, for the colour of a count that is at most `max`; 0 for none. A few are never the strongest. */
export function levelOf(count: number, max: number): number {
  return Math.min(Math.ceil((count / max) * 4), count === 0 ? 0 : count + 1)
}
