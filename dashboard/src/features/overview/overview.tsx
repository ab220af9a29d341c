import { useRead } from '../../api/reads.ts'
import { at } from '../../routing/paths.ts'
import { formatCompact, formatCount, formatShare, plural } from '../../format/numbers.ts'
import { formatDuration } from '../../format/times.ts'
import { QueryStatus } from '../../ui/page/empty.tsx'
import { Figure, Page } from '../../ui/page/page.tsx'
// The charts are shown here and on the page of a queue.
import { Charts } from '../statistics/charts.tsx'
import { type Comparison, comparisonOf, noteOf } from '../statistics/comparison.ts'
import { RangeChoice } from '../statistics/range-choice.tsx'
import { type Range, stepText } from '../statistics/ranges.ts'
import { type Summary, summaryOf, toneOfFailed } from '../statistics/summary.ts'
import { useStatistics } from '../statistics/use-statistics.ts'
// Open issues are loaded when the overview is there, so that it does not wait for them.
import { OpenIssues } from './issues-first.tsx'
import { Attention } from './attention.tsx'
import { OldestFigure } from './oldest-figure.tsx'
import { FirstJob, FirstJobLanded, useFirstJob } from './first-job.tsx'

export function Overview() {
  const { range, since, read: statistics, before } = useStatistics()
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
      <OpenIssues />
      <QueryStatus query={statistics} what="the statistics" />
      {statistics.data !== undefined && (
        <>
          <Figures
            summary={summaryOf(statistics.data.points, statistics.data.step)}
            compared={comparisonOf(statistics.data.points, before, range)}
            step={stepText(statistics.data.step)}
            range={range}
            since={since}
          />
          <Attention />
          <Charts statistics={statistics.data} before={before} range={range} />
        </>
      )}
    </Page>
  )
}

interface FiguresProps {
  readonly summary: Summary
  readonly compared: Comparison
  /** Such as `minute`. */
  readonly step: string
  readonly range: Range
  readonly since: string
}

function Figures({ summary, compared, step, range, since }: FiguresProps) {
  const team = useRead('readTeam', {})
  const { ended, failed, dead } = summary
  return (
    <div class="figures">
      <OldestFigure counted={summary.oldestStartableSeconds} />
      <Figure
        name="Throughput"
        note={noteOf(`${formatCount(ended)} ended in ${range.label}`, compared.ended)}
      >
        {formatRate(summary.perSecond)}
      </Figure>
      <Figure
        name="Failure rate"
        note={noteOf(
          `${formatCount(failed)} of ${formatCount(ended)} failed in ${range.label}`,
          compared.failureRate,
        )}
        tone={toneOfFailed(failed, ended)}
        href={at('/jobs', { status: 'failed', ended_after: since })}
      >
        {formatShare(failed, ended) ?? '–'}
      </Figure>
      <Figure name="Lateness, p99" note={noteOf(`The worst ${step} in ${range.label}`, compared.lateness)}>
        {summary.latenessMs === null ? '–' : `≈ ${formatDuration(summary.latenessMs)}`}
      </Figure>
      <Figure
        name="In flight"
        note={`Now · ${plural(team.data?.usage.pending_jobs ?? 0, 'job')} not ended`}
        href={at('/jobs', { status: 'processing' })}
      >
        {formatCompact(team.data?.usage.calls_in_flight ?? 0)}
      </Figure>
      <Figure
        name="New dead letters"
        note={noteOf(`In ${range.label}`, compared.dead)}
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
