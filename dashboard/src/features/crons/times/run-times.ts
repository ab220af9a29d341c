import { type ClockChange, clockChanges, dayOfChange } from '../../../format/clock-changes.ts'
import { formatStamp } from '../../../format/times.ts'

export interface RunTime {
  readonly kind: 'run'
  readonly atMs: number
  /** A change of the clocks of the cron's zone on the day of this run. */
  readonly change: ClockChange | null
}

export interface ChangeTime {
  readonly kind: 'change'
  readonly atMs: number
  readonly change: ClockChange
  readonly zone: string
}

export type RunOrChange = RunTime | ChangeTime

interface Span {
  readonly fromMs: number
  readonly toMs: number
  /** The cron's zone, and after it that of the viewer if it is another. */
  readonly zones: readonly string[]
}

const DAY_MS = 86_400_000
/** Between rarer runs clocks change all the time. */
const NEAR_MS = 45 * DAY_MS

/** Runs, and the changes of clocks between them. @param ticks ascending */
export function timesOf(ticks: readonly number[], { fromMs, toMs, zones }: Span): RunOrChange[] {
  const [own = 'UTC'] = zones
  // A run may be on the day of a change that is before or after the span.
  const found = zones.flatMap((zone) =>
    clockChanges(fromMs - DAY_MS, toMs + DAY_MS, zone).map((change): ChangeTime => ({
      kind: 'change',
      atMs: change.atMs,
      change,
      zone,
    })),
  )
  const days = new Map(
    found.flatMap(({ change, zone }) => (zone === own ? [[dayOfChange(change), change]] : [])),
  )
  const runs = ticks.map((atMs): RunTime => {
    const day = formatStamp(atMs, own).slice(0, 10)
    return { kind: 'run', atMs, change: days.get(day) ?? null }
  })
  const near = found.filter(({ atMs }) => {
    if (atMs <= fromMs || atMs > toMs) return false
    const before = ticks.findLast((tick) => tick < atMs) ?? fromMs
    return (ticks.find((tick) => tick >= atMs) ?? toMs) - before < NEAR_MS
  })
  // At the same moment clocks change first: the sort keeps this order.
  return [...near, ...runs].toSorted((a, b) => a.atMs - b.atMs)
}

/** The ticks of a day that are nearest to a change of clocks, in order. */
export function ticksAround(
  ticks: readonly number[],
  change: ClockChange,
  zone: string,
  count: number,
): number[] {
  const day = dayOfChange(change)
  const away = (tick: number): number => Math.abs(tick - change.atMs)
  return ticks
    .filter((tick) => formatStamp(tick, zone).startsWith(day))
    .toSorted((a, b) => away(a) - away(b))
    .slice(0, count)
    .toSorted((a, b) => a - b)
}
