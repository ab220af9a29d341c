import type { Statistics, StatisticsPoint } from '../../../clients/typescript/src/client.ts'
import { columns, shortTime } from '../output/text-table.ts'
import { factView } from '../output/view.ts'

const BARS = '▁▂▃▄▅▆▇█'

/**
 * One line per point from the first to the last in which something was, then how many jobs ended over time, and beside it
 * in the span before.
 */
export const STATISTICS_TABLE = factView<Statistics>((statistics) => {
  const { since, step, points } = statistics
  const before = beforeOf(statistics)
  const first = points.findIndex(isBusy)
  if (first === -1) {
    const end = new Date(Date.parse(since) + points.length * step * 1000).toISOString()
    const nothing = `Nothing ran and nothing waited from ${shortTime(since)} to ${end.slice(0, 19)}Z.`
    return [nothing, ...(before === null ? [] : [before.text])]
  }
  const shown = points.slice(first, points.findLastIndex(isBusy) + 1)
  return [
    columns([
      [
        'AT',
        'DONE',
        'FAILED',
        'RETRIED',
        'DEAD',
        'P50',
        'P95',
        'P99',
        'LATE',
        'STARTABLE',
        'STOPPED',
        'OLDEST',
      ],
      ...shown.map(row),
    ]),
    '',
    ...barsOf(shown, before),
    ...(before === null ? [] : [before.text]),
  ]
})

/** What the span before tells. */
interface Before {
  /** Jobs that ended in the point that lies the span's length before; absent = it is not kept, or not over yet. */
  endedAt(point: StatisticsPoint): number | undefined
  readonly text: string
}

/** null = it was not asked for. */
function beforeOf({ since, step, points, previous }: Statistics): Before | null {
  if (previous === undefined) return null
  const lengthMs = Date.parse(since) - Date.parse(previous.since)
  const byTime = new Map(previous.points.map((point) => [Date.parse(point.at) + lengthMs, endedIn(point)]))
  const endedAt = ({ at }: StatisticsPoint): number | undefined => byTime.get(Date.parse(at))
  const whole = Math.round(lengthMs / (step * 1000))
  if (byTime.size < whole) return { endedAt, text: 'The span before is no longer kept as a whole.' }
  // With the point that is not over it would look like less.
  const now = sumOf(points.slice(0, whole).map(endedIn))
  const then = sumOf([...byTime.values()])
  const isOver = whole >= points.length
  const left = isOver ? '' : '; what is not over yet is left out'
  return { endedAt, text: `${now} jobs ended, ${then} in the span before${changeText(now, then)}${left}` }
}

/** Such as `: +38 %`; nothing where there is nothing to compare with. */
function changeText(now: number, then: number): string {
  if (then === 0) return ''
  const percent = Math.round((now / then - 1) * 100)
  return `: ${percent > 0 ? '+' : ''}${percent} %`
}

/** Both lines have the same scale. */
function barsOf(shown: readonly StatisticsPoint[], before: Before | null): string[] {
  const now = shown.map(endedIn)
  if (before === null) return [`ended ${sparkline(now, Math.max(...now))}`]
  const then = shown.map((point) => before.endedAt(point) ?? 0)
  const most = Math.max(...now, ...then)
  return [`ended  ${sparkline(now, most)}`, `before ${sparkline(then, most)}`]
}

function endedIn({ done, failed }: StatisticsPoint): number {
  return done + failed
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0)
}

function isBusy({
  done,
  failed,
  retried,
  dead,
  depth,
  oldest_ready_seconds: oldest,
}: StatisticsPoint): boolean {
  return [done, failed, retried, dead, depth].some((count) => count > 0) || oldest !== null
}

function row(point: StatisticsPoint): string[] {
  const { latency_ms: latency, lateness_ms: lateness, oldest_startable_seconds: oldest } = point
  return [
    point.at.slice(0, 16),
    ...[point.done, point.failed, point.retried, point.dead].map(String),
    ...[latency?.p50, latency?.p95, latency?.p99, lateness?.p99].map(durationText),
    String(point.startable),
    String(point.stopped),
    oldest === null ? '-' : `${oldest} s`,
  ]
}

function durationText(ms: number | undefined): string {
  if (ms === undefined) return '-'
  return ms < 1000 ? `${Number(ms.toPrecision(2))} ms` : `${Number((ms / 1000).toPrecision(2))} s`
}

/** @returns a bar for each value, the highest for `most`; a space is 0 */
function sparkline(values: readonly number[], most: number): string {
  return values
    .map((value) => (value === 0 ? ' ' : BARS[Math.ceil((value / most) * BARS.length) - 1]))
    .join('')
    .trimEnd()
}
