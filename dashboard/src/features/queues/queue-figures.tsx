import type { Queue, QueueState } from '../../../../clients/typescript/src/client.ts'
import { at } from '../../routing/paths.ts'
import { textOf } from '../../format/values/known-values.ts'
import { formatCount, formatShare } from '../../format/numbers.ts'
import { formatDuration } from '../../format/times.ts'
import { Fault, Loading } from '../../ui/page/empty.tsx'
import { Figure } from '../../ui/page/page.tsx'
import { useNow } from '../../ui/text/time.tsx'
// The charts are shown here and on the overview.
import { Charts } from '../statistics/charts.tsx'
import { comparisonOf, noteOf } from '../statistics/comparison.ts'
import { RangeChoice } from '../statistics/range-choice.tsx'
import { stepText } from '../statistics/ranges.ts'
import { summaryOf, toneOfAge } from '../statistics/summary.ts'
import { useStatistics } from '../statistics/use-statistics.ts'
import { STOPPED_WORDS } from './stops/stop-words.ts'

const MINUTE_MS = 60_000

/** What is in a queue now; each figure leads to the jobs that it counts. */
export function LiveFigures({
  queue,
  state,
  readAtMs,
}: {
  readonly queue: Queue
  readonly state: QueueState | undefined
  /** When the state was read. */
  readonly readAtMs: number
}) {
  const nowMs = useNow()
  const { name, counts, max_parallelism: limit } = queue
  // Not to the second: the link would change all the time.
  const now = new Date(Math.floor(nowMs / MINUTE_MS) * MINUTE_MS).toISOString()
  const jobs = (filter: Readonly<Record<string, string>>): string => at('/jobs', { queue: name, ...filter })
  // It grows older while nothing happens, and nothing tells of that.
  const grownSeconds = Math.max(0, Math.floor((nowMs - readAtMs) / 1_000))
  const told = state?.oldest_startable_seconds ?? null
  const oldest = told === null || counts.pending === 0 ? null : told + grownSeconds
  const isFull = limit !== null && counts.processing >= limit && counts.pending > 0
  return (
    <div class="figures">
      <ReadyFigure
        ready={counts.pending}
        stopped={state?.stopped ?? null}
        href={jobs({ status: 'pending' })}
      />
      <Figure
        name="In flight"
        note={limit === null ? 'No limit' : isFull ? 'At its limit' : `Of at most ${formatCount(limit)}`}
        {...(isFull && { tone: 'warn' as const })}
        href={jobs({ status: 'processing' })}
      >
        {formatCount(counts.processing)}
      </Figure>
      <Figure
        name="Not due"
        note="Delayed jobs and retries"
        href={jobs({ status: 'pending', scheduled_after: now })}
      >
        {formatCount(counts.delayed)}
      </Figure>
      <OldestFigure seconds={oldest} />
      <Figure
        name="Dead letters"
        note={`Kept for ${queue.dlq_retention_days} days`}
        tone={counts.dead > 0 ? 'bad' : 'good'}
        href={at('/dead-letters', { queue: name })}
      >
        {formatCount(counts.dead)}
      </Figure>
    </div>
  )
}

function ReadyFigure({
  ready,
  stopped,
  href,
}: {
  readonly ready: number
  readonly stopped: QueueState['stopped']
  readonly href: string
}) {
  const note =
    stopped === null
      ? 'Due, and not started'
      : `${formatCount(stopped.jobs)} of them ${textOf(STOPPED_WORDS, stopped.reason)}`
  return (
    <Figure name="Ready" note={note} href={href}>
      {formatCount(ready)}
    </Figure>
  )
}

/** @param seconds null = no job is startable */
function OldestFigure({ seconds }: { readonly seconds: number | null }) {
  return (
    <Figure
      name="Oldest startable job"
      note={seconds === null ? 'No job could start' : 'Since it was due'}
      {...(seconds !== null && { tone: toneOfAge(seconds) })}
    >
      {seconds === null ? '–' : seconds === 0 ? '< 1 s' : formatDuration(seconds * 1_000)}
    </Figure>
  )
}

/** What happened in a queue over the range of the address. */
export function History({ queue: { queue_id: id, name } }: { readonly queue: Queue }) {
  const { range, since, read, before } = useStatistics(id)
  const { data: statistics } = read
  if (statistics === undefined) {
    return read.isError ? (
      <Fault fault={read.error} onRetry={() => void read.refetch()} />
    ) : (
      <Loading what="the statistics" />
    )
  }
  const { ended, failed, dead, latenessMs } = summaryOf(statistics.points, statistics.step)
  const compared = comparisonOf(statistics.points, before, range)
  const inRange = `In ${range.label}`
  const ofStatus = (status: string): string => at('/jobs', { queue: name, status, ended_after: since })
  return (
    <section class="stack" aria-label={`What happened in ${range.label}`}>
      <div class="queue-range">
        <h2>The last {range.label.replace(/^1 /, '')}</h2>
        <RangeChoice />
      </div>
      <div class="figures">
        <Figure name="Succeeded" note={noteOf(inRange, compared.succeeded)} href={ofStatus('completed')}>
          {formatCount(ended - failed)}
        </Figure>
        <Figure
          name="Failed"
          note={noteOf(
            `${formatShare(failed, ended) ?? 'None'} of all that ended in ${range.label}`,
            compared.failed,
          )}
          tone={failed > 0 ? 'bad' : 'good'}
          href={ofStatus('failed')}
        >
          {formatCount(failed)}
        </Figure>
        <Figure
          name="New dead letters"
          note={noteOf(inRange, compared.dead)}
          tone={dead > 0 ? 'bad' : 'good'}
        >
          {formatCount(dead)}
        </Figure>
        <Figure
          name="Lateness, p99"
          note={noteOf(`The worst ${stepText(statistics.step)} in ${range.label}`, compared.lateness)}
        >
          {latenessMs === null ? '–' : `≈ ${formatDuration(latenessMs)}`}
        </Figure>
      </div>
      <Charts statistics={statistics} before={before} range={range} jobs={{ queue: name }} />
    </section>
  )
}
