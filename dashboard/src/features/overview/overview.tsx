import { useLiveFigures } from '../../api/live.ts'
import { useRead } from '../../api/reads.ts'
import { at } from '../../app/paths.ts'
import { formatCompact, formatCount, formatShare, plural } from '../../format/numbers.ts'
import { formatDuration } from '../../format/times.ts'
import { Fault, Loading } from '../../ui/empty.tsx'
import { Figure, Page } from '../../ui/page.tsx'
import { useNow } from '../../ui/time.tsx'
// The charts are shown here and on the page of a queue.
import { Charts } from '../statistics/charts.tsx'
import { RangeChoice, useRange } from '../statistics/range-choice.tsx'
import { type Range, sinceOf } from '../statistics/ranges.ts'
import { type Summary, summaryOf } from '../statistics/summary.ts'
import { Attention } from './attention.tsx'
import { FirstJob, FirstJobLanded, useFirstJob } from './first-job.tsx'

/** A ready job that waits so long is worth a look, and so long a fault. */
const LATE_SECONDS = 10
const TOO_LATE_SECONDS = 60

export function Overview() {
  const range = useRange()
  const since = sinceOf(range, useNow())
  const statistics = useRead('readStatistics', { since, step: range.step })
  const first = useFirstJob()
  if (first.isAwaited) {
    return (
      <Page title="Overview">
        <FirstJob />
      </Page>
    )
  }
  return (
    <Page title="Overview" actions={<RangeChoice />}>
      {first.landed !== null && <FirstJobLanded job={first.landed} />}
      {statistics.isPending && <Loading what="the statistics" />}
      {statistics.isError && <Fault fault={statistics.error} onRetry={() => void statistics.refetch()} />}
      {statistics.data !== undefined && (
        <>
          <Figures summary={summaryOf(statistics.data.points, statistics.data.step)} range={range} />
          <Attention />
          <Charts statistics={statistics.data} />
        </>
      )}
    </Page>
  )
}

function Figures({ summary, range }: { readonly summary: Summary; readonly range: Range }) {
  const team = useRead('readTeam', {})
  const { ended, failed, dead } = summary
  // Statistics have it once a minute.
  const live = useLiveFigures()
  const oldest = live === null ? summary.oldestReadySeconds : live.oldest_ready_seconds
  return (
    <div class="figures">
      <Figure
        name="Oldest ready job"
        note={oldest === null ? 'No job is ready' : 'It could start now'}
        tone={toneOf(oldest)}
      >
        {oldest === null ? 'None' : oldest === 0 ? '< 1 s' : formatDuration(oldest * 1_000)}
      </Figure>
      <Figure name="Throughput" note={`${formatCount(ended)} ended`}>
        {formatRate(summary.perSecond)}
      </Figure>
      <Figure
        name="Failure rate"
        note={`${formatCount(failed)} of ${formatCount(ended)} failed`}
        tone={failed === 0 ? 'good' : failed / ended > 0.05 ? 'bad' : 'warn'}
        href={at('/jobs', { status: 'failed' })}
      >
        {formatShare(failed, ended) ?? '–'}
      </Figure>
      <Figure name="Lateness, p99" note={`The worst in ${range.label}`}>
        {summary.latenessMs === null ? '–' : formatDuration(summary.latenessMs)}
      </Figure>
      <Figure
        name="In flight"
        note={`${plural(team.data?.usage.pending_jobs ?? 0, 'job')} not ended`}
        href={at('/jobs', { status: 'processing' })}
      >
        {formatCompact(team.data?.usage.calls_in_flight ?? 0)}
      </Figure>
      <Figure
        name="New dead letters"
        note={`In ${range.label}`}
        tone={dead > 0 ? 'bad' : 'good'}
        href={at('/dead-letters')}
      >
        {formatCount(dead)}
      </Figure>
    </div>
  )
}

function toneOf(oldest: number | null): 'good' | 'warn' | 'bad' {
  if (oldest === null || oldest < LATE_SECONDS) return 'good'
  return oldest < TOO_LATE_SECONDS ? 'warn' : 'bad'
}

function formatRate(perSecond: number): string {
  if (perSecond === 0) return '0 / s'
  if (perSecond < 1) return `${(perSecond * 60).toFixed(perSecond < 0.1 ? 1 : 0)} / min`
  return `${formatCompact(perSecond < 10 ? Math.round(perSecond * 10) / 10 : Math.round(perSecond))} / s`
}
