import type { Statistics, StatisticsPoint } from '../../../clients/typescript/src/client.ts'
import { columns } from '../output/text-table.ts'
import { factView } from '../output/view.ts'

const BARS = '▁▂▃▄▅▆▇█'

/** One line per point, then how many jobs ended over time. */
export const STATISTICS_TABLE = factView<Statistics>(({ points }) => [
  columns([
    ['AT', 'DONE', 'FAILED', 'RETRIED', 'DEAD', 'P50', 'P95', 'P99', 'LATE', 'DEPTH', 'OLDEST'],
    ...points.map(row),
  ]),
  '',
  `ended ${sparkline(points.map(({ done, failed }) => done + failed))}`,
])

function row(point: StatisticsPoint): string[] {
  const { latency_ms: latency, lateness_ms: lateness, oldest_ready_seconds: oldest } = point
  return [
    point.at.slice(0, 16),
    ...[point.done, point.failed, point.retried, point.dead].map(String),
    ...[latency?.p50, latency?.p95, latency?.p99, lateness?.p99].map(durationText),
    String(point.depth),
    oldest === null ? '-' : `${oldest} s`,
  ]
}

function durationText(ms: number | undefined): string {
  if (ms === undefined) return '-'
  return ms < 1000 ? `${Number(ms.toPrecision(2))} ms` : `${Number((ms / 1000).toPrecision(2))} s`
}

/** @returns a bar for each value; a space is 0 */
function sparkline(values: readonly number[]): string {
  const most = Math.max(1, ...values)
  return values
    .map((value) => (value === 0 ? ' ' : BARS[Math.ceil((value / most) * BARS.length) - 1]))
    .join('')
    .trimEnd()
}
