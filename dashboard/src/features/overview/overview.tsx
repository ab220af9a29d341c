import { useLiveFigures } from '../../api/live.ts'
import { useRead } from '../../api/reads.ts'
import { at } from '../../app/paths.ts'
import { formatCompact, formatCount, formatShare, plural } from '../../format/numbers.ts'
import { formatDuration } from '../../format/times.ts'
import { QueryStatus } from '../../ui/empty.tsx'
import { Figure, Page } from '../../ui/page.tsx'
import { useNow } from '../../ui/time.tsx'
// The charts are shown here and on the page of a queue.
import { Charts } from '../statistics/charts.tsx'
import { RangeChoice, useRange } from '../statistics/range-choice.tsx'
import { type Range, sinceOf } from '../statistics/ranges.ts'
import { type Summary, summaryOf, toneOfAge } from '../statistics/summary.ts'
import { Attention } from './attention.tsx'
import { FirstJob, FirstJobLanded, useFirstJob } from './first-job.tsx'

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
      <QueryStatus query={statistics} what="the statistics" />
      {statistics.data !== undefined && (
        <>
          <Figures summary={summaryOf(statistics.data.points, statistics.data.step)} {...{ range, since }} />
          <Attention />
          <Charts statistics={statistics.data} />
        </>
      )}
    </Page>
  )
}

interface FiguresProps {
  readonly summary: Summary
  readonly range: Range
  readonly since: string
}

function Figures({ summary, range, since }: FiguresProps) {
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
        tone={toneOfAge(oldest)}
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
        href={at('/jobs', { status: 'failed', ended_after: since })}
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

function formatRate(perSecond: number): string {
  if (perSecond === 0) return '0 / s'
  if (perSecond < 1) return `${(perSecond * 60).toFixed(perSecond < 0.1 ? 1 : 0)} / min`
  return `${formatCompact(perSecond < 10 ? Math.round(perSecond * 10) / 10 : Math.round(perSecond))} / s`
}
