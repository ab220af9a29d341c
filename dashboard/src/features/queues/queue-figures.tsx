import type { Queue, QueueState } from '../../../../clients/typescript/src/client.ts'
import { useRead } from '../../api/reads.ts'
import { at } from '../../app/paths.ts'
import { formatCount, formatShare } from '../../format/numbers.ts'
import { formatDuration } from '../../format/times.ts'
import { Fault, Loading } from '../../ui/empty.tsx'
import { Figure } from '../../ui/page.tsx'
import { useNow } from '../../ui/time.tsx'
// The charts are shown here and on the overview.
import { Charts } from '../statistics/charts.tsx'
import { RangeChoice, useRange } from '../statistics/range-choice.tsx'
import { sinceOf } from '../statistics/ranges.ts'
import { summaryOf, toneOfAge } from '../statistics/summary.ts'

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
  const told = state?.oldest_ready_seconds ?? null
  const oldest = told === null || counts.pending === 0 ? null : told + grownSeconds
  const isFull = limit !== null && counts.processing >= limit && counts.pending > 0
  return (
    <div class="figures">
      <Figure name="Ready" note="Due, and not started" href={jobs({ status: 'pending' })}>
        {formatCount(counts.pending)}
      </Figure>
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
      <Figure
        name="Oldest ready job"
        note={oldest === null ? 'No job waits' : 'Since it was due'}
        {...(queue.is_active && oldest !== null && { tone: toneOfAge(oldest) })}
      >
        {oldest === null ? '–' : oldest === 0 ? '< 1 s' : formatDuration(oldest * 1_000)}
      </Figure>
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

/** What happened in a queue over the range of the address. */
export function History({ queue: { queue_id: id, name } }: { readonly queue: Queue }) {
  const range = useRange()
  const since = sinceOf(range, useNow())
  const read = useRead('readQueueStatistics', { queue_id: id, since, step: range.step })
  const { data: statistics } = read
  if (statistics === undefined) {
    return read.isError ? (
      <Fault fault={read.error} onRetry={() => void read.refetch()} />
    ) : (
      <Loading what="the statistics" />
    )
  }
  const { ended, failed, dead, latenessMs } = summaryOf(statistics.points, statistics.step)
  const ofStatus = (status: string): string => at('/jobs', { queue: name, status, ended_after: since })
  return (
    <section class="stack" aria-label={`What happened in ${range.label}`}>
      <div class="queue-range">
        <h2>The last {range.label.replace(/^1 /, '')}</h2>
        <RangeChoice />
      </div>
      <div class="figures">
        <Figure name="Succeeded" href={ofStatus('completed')}>
          {formatCount(ended - failed)}
        </Figure>
        <Figure
          name="Failed"
          note={`${formatShare(failed, ended) ?? 'None'} of all that ended`}
          tone={failed > 0 ? 'bad' : 'good'}
          href={ofStatus('failed')}
        >
          {formatCount(failed)}
        </Figure>
        <Figure name="New dead letters" tone={dead > 0 ? 'bad' : 'good'}>
          {formatCount(dead)}
        </Figure>
        <Figure name="Lateness, p99" note="The worst of all points">
          {latenessMs === null ? '–' : formatDuration(latenessMs)}
        </Figure>
      </div>
      <Charts statistics={statistics} />
    </section>
  )
}
