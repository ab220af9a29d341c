import type { Statistics, StatisticsPoint } from '../../../../clients/typescript/src/client.ts'
import { formatCompact } from '../../format/numbers.ts'
import { formatDuration } from '../../format/times.ts'
import { Chart } from '../../ui/chart.tsx'
import { Panel } from '../../ui/page.tsx'
import './charts.css'

/** What happened over a range; shown for the team and for a queue. */
export function Charts({ statistics }: { readonly statistics: Statistics }) {
  const { step } = statistics
  // A minute that is not over has few jobs, of which one that failed is a large part.
  const points = step === 60 ? statistics.points.slice(0, -1) : statistics.points
  const times = points.map(({ at }) => Date.parse(at))
  const valuesOf = (of: (point: StatisticsPoint) => number | null) => points.map(of)
  return (
    <div class="charts">
      <Panel>
        <Chart
          caption={`Jobs that ended, per ${spanOf(step)}`}
          times={times}
          format={formatCompact}
          series={[
            { label: 'Succeeded', colour: '--good', isFilled: true, values: valuesOf(({ done }) => done) },
            { label: 'Failed', colour: '--bad', isFilled: true, values: valuesOf(({ failed }) => failed) },
          ]}
        />
      </Panel>
      <Panel>
        <Chart
          caption="Failures, of all that ended"
          times={times}
          format={(share) => `${(share * 100).toFixed(share < 0.1 && share > 0 ? 1 : 0)} %`}
          series={[
            {
              ...{ label: 'Failure rate', colour: '--bad', isFilled: true },
              values: valuesOf(({ done, failed }) => (done + failed === 0 ? null : failed / (done + failed))),
            },
          ]}
        />
      </Panel>
      <Panel>
        <Chart
          caption="Lateness: from when a job was due to its start"
          times={times}
          format={formatDuration}
          unitMs={1}
          series={[
            { label: 'p50', colour: '--busy', values: valuesOf((point) => point.lateness_ms?.p50 ?? null) },
            { label: 'p99', colour: '--warn', values: valuesOf((point) => point.lateness_ms?.p99 ?? null) },
          ]}
        />
      </Panel>
      <Panel>
        <Chart
          caption="Latency: how long calls took"
          times={times}
          format={formatDuration}
          unitMs={1}
          series={[
            { label: 'p50', colour: '--busy', values: valuesOf((point) => point.latency_ms?.p50 ?? null) },
            { label: 'p95', colour: '--dead', values: valuesOf((point) => point.latency_ms?.p95 ?? null) },
            { label: 'p99', colour: '--warn', values: valuesOf((point) => point.latency_ms?.p99 ?? null) },
          ]}
        />
      </Panel>
      <Panel>
        <Chart
          caption="Ready jobs that waited for a slot"
          times={times}
          format={formatCompact}
          series={[
            { label: 'Ready', colour: '--busy', isFilled: true, values: valuesOf(({ depth }) => depth) },
          ]}
        />
      </Panel>
      <Panel>
        <Chart
          caption="Age of the oldest ready job"
          times={times}
          format={(seconds) => formatDuration(seconds * 1_000)}
          unitMs={1_000}
          series={[
            {
              ...{ label: 'Age', colour: '--dead', isFilled: true },
              values: valuesOf(({ oldest_ready_seconds: age }) => age ?? 0),
            },
          ]}
        />
      </Panel>
    </div>
  )
}

function spanOf(step: number): string {
  return step === 60 ? 'minute' : formatDuration(step * 1_000)
}
