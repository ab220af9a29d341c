import type { Statistics, StatisticsPoint } from '../../../../clients/typescript/src/client.ts'
import { formatCompact } from '../../format/numbers.ts'
import { formatDuration } from '../../format/times.ts'
import { at } from '../../routing/paths.ts'
import { Chart } from '../../ui/charts/chart.tsx'
import type { ChartProps, Series } from '../../ui/charts/series.ts'
import { Panel } from '../../ui/page/page.tsx'
import './charts.css'
import { beforeLine, lineOf } from './lines.ts'
import { type Range, stepText } from './ranges.ts'
import { failedShare, mostOf, sumOf, worstLateness } from './summary.ts'

interface Shown extends Pick<ChartProps, 'format' | 'unitMs'> {
  /** @param step such as `minute` */
  caption(step: string): string
  /** What the values of a whole span are. */
  spanText(step: string, range: string): string
  /** What is asked for of the jobs that a span of the chart leads to, beside the time of their end. */
  readonly jobs?: Readonly<Record<string, string>>
  readonly series: ReadonlyArray<
    Pick<Series, 'label' | 'colour' | 'isFilled'> & {
      /** The value of a point, or of several. */
      valueOf(points: readonly StatisticsPoint[]): number | null
      /** The same of the span before is drawn beside it: of one line, or there would be too many. */
      readonly isCompared?: true
    }
  >
}

const CHARTS: readonly Shown[] = [
  {
    caption: (step) => `Jobs that ended, per ${step}`,
    spanText: (_, range) => `In ${range}`,
    format: formatCompact,
    series: [
      {
        label: 'Succeeded',
        colour: '--good',
        isFilled: true,
        isCompared: true,
        valueOf: sumOf(({ done }) => done),
      },
      { label: 'Failed', colour: '--bad', isFilled: true, valueOf: sumOf(({ failed }) => failed) },
    ],
  },
  {
    caption: () => 'Failures, of all that ended',
    spanText: (_, range) => `In ${range}`,
    format: (share) => `${(share * 100).toFixed(share < 0.1 && share > 0 ? 1 : 0)} %`,
    jobs: { status: 'failed' },
    series: [
      { label: 'Failure rate', colour: '--bad', isFilled: true, isCompared: true, valueOf: failedShare },
    ],
  },
  {
    caption: () => 'Lateness, estimated: from when a job was due to its start',
    spanText: (step, range) => `The worst ${step} in ${range}`,
    format: formatDuration,
    unitMs: 1,
    series: [
      { label: 'p50', colour: '--busy', valueOf: mostOf((point) => point.lateness_ms?.p50 ?? null) },
      { label: 'p99', colour: '--warn', isCompared: true, valueOf: worstLateness },
    ],
  },
  {
    caption: () => 'Latency, estimated: how long calls took',
    spanText: (step, range) => `The worst ${step} in ${range}`,
    format: formatDuration,
    unitMs: 1,
    series: [
      { label: 'p50', colour: '--busy', valueOf: mostOf((point) => point.latency_ms?.p50 ?? null) },
      { label: 'p95', colour: '--dead', valueOf: mostOf((point) => point.latency_ms?.p95 ?? null) },
      {
        label: 'p99',
        colour: '--warn',
        isCompared: true,
        valueOf: mostOf((point) => point.latency_ms?.p99 ?? null),
      },
    ],
  },
  {
    caption: () => 'Ready jobs',
    spanText: (_, range) => `The most in ${range}`,
    format: formatCompact,
    series: [
      {
        label: 'Startable',
        colour: '--busy',
        isFilled: true,
        isCompared: true,
        valueOf: mostOf(({ startable }) => startable),
      },
      { label: 'Stopped', colour: '--warn', valueOf: mostOf(({ stopped }) => stopped) },
    ],
  },
  {
    caption: () => 'Age of the oldest startable job',
    spanText: (_, range) => `The oldest in ${range}`,
    format: (seconds) => formatDuration(seconds * 1_000),
    unitMs: 1_000,
    series: [
      {
        label: 'Age',
        colour: '--dead',
        isFilled: true,
        isCompared: true,
        valueOf: mostOf(({ oldest_startable_seconds: age }) => age ?? 0),
      },
    ],
  },
]

interface ChartsProps {
  readonly statistics: Statistics
  /** The points of the span before; null = not known, or no longer kept. */
  readonly before: readonly StatisticsPoint[] | null
  readonly range: Range
  /** What is asked for of the jobs that the charts lead to. */
  readonly jobs?: Readonly<Record<string, string>>
}

/** What happened over a range; shown for the team and for a queue. */
export function Charts({ statistics: { points: all, step }, before, range, jobs = {} }: ChartsProps) {
  const stepMs = step * 1_000
  // A minute that is not over has few jobs, of which one that failed is a large part.
  const shown = step === 60 ? all.slice(0, -1) : all
  return (
    <div class="charts">
      {CHARTS.map(({ caption, spanText, series, jobs: ofChart = {}, ...chart }, index) => (
        <Panel key={index}>
          <Chart
            {...chart}
            caption={caption(stepText(step))}
            spanText={spanText(stepText(step), range.label)}
            times={shown.map((point) => Date.parse(point.at))}
            stepMs={stepMs}
            hrefOf={(fromMs, toMs) =>
              at('/jobs', {
                ...jobs,
                ...ofChart,
                ended_after: new Date(fromMs).toISOString(),
                ended_before: new Date(toMs).toISOString(),
              })
            }
            series={series.map(({ valueOf, isCompared, ...one }) => ({
              ...one,
              ...lineOf({ shown, all, valueOf }),
              ...(isCompared &&
                before !== null && {
                  before: {
                    label: `${one.label}, ${range.before}`,
                    ...beforeLine(before, { shown, shiftMs: range.seconds * 1_000, valueOf }),
                  },
                }),
            }))}
          />
        </Panel>
      ))}
    </div>
  )
}
