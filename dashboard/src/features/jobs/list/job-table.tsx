import type { JobSummary } from '../../../../../clients/typescript/src/client.ts'
import { at } from '../../../routing/paths.ts'
import { answerText, isMessageNews } from '../../../format/failure-reasons.ts'
import { formatDuration } from '../../../format/times.ts'
import { type Column, type Order, type Selection, Table } from '../../../ui/tables/table.tsx'
import { Time } from '../../../ui/text/time.tsx'
import { JobBadge } from '../job-badge.tsx'
import { type JobOrder, orderByTime } from '../job-filter.ts'
import './job-table.css'
import { Verbatim } from '../../../ui/text/verbatim.tsx'
import { visible } from '../../../format/visible.ts'

export function JobTable({
  jobs,
  isBusy,
  order,
  onOrder,
  selection,
}: {
  readonly jobs: readonly JobSummary[]
  /** What is shown is of the filter before. */
  readonly isBusy: boolean
  /** null = the jobs are in an order that cannot be chosen. */
  readonly order: JobOrder | null
  onOrder(order: JobOrder): void
  readonly selection?: Selection<number>
}) {
  const columns: ReadonlyArray<Column<JobSummary>> = [
    { head: 'Job', cell: ({ job_id: id }) => <span class="number">{id}</span> },
    { head: 'State', cell: (job) => <JobBadge job={job} nowMs={Date.now()} /> },
    { head: 'Request', isWide: true, cell: Request },
    {
      head: 'Queue',
      isExtra: true,
      cell: Queue,
      ...(order !== null && { order: queueOrder(order, onOrder) }),
    },
    { head: 'Answer', cell: Answer },
    { head: 'Attempt', align: 'end', isExtra: true, cell: ({ attempt_number: attempt }) => attempt },
    { head: 'Took', align: 'end', isExtra: true, cell: Took },
    { head: 'Tags', isSpare: true, cell: Tags },
    { head: 'Pushed', align: 'end', isSpare: true, cell: ({ created_at: pushed }) => <Time at={pushed} /> },
    {
      head: 'When',
      align: 'end',
      cell: (job) => (
        <Time at={job.dead_lettered_at ?? job.completed_at ?? job.started_at ?? job.scheduled_at} />
      ),
      ...(order !== null && { order: timeOrder(order, onOrder) }),
    },
  ]
  return (
    <div class="job-table" aria-busy={isBusy}>
      <Table
        caption="Jobs"
        rows={jobs}
        columns={columns}
        keyOf={({ job_id: id }) => id}
        hrefOf={({ job_id: id }) => at(`/jobs/${id}`)}
        {...(selection !== undefined && { selection })}
      />
    </div>
  )
}

function queueOrder(is: JobOrder, onOrder: (order: JobOrder) => void): Order {
  return { ...(is === 'queue' && { is: 'ascending' }), onChoose: () => onOrder('queue') }
}

function timeOrder(is: JobOrder, onOrder: (order: JobOrder) => void): Order {
  const direction = is === 'newest' ? 'descending' : 'ascending'
  return { ...(is !== 'queue' && { is: direction }), onChoose: () => onOrder(orderByTime(is)) }
}

function Request({ method, url }: JobSummary) {
  return (
    <span title={visible(url)}>
      <span class="soft">{method}</span> <Verbatim text={url.replace(/^https?:\/\//, '')} />
    </span>
  )
}

function Queue({ queue }: JobSummary) {
  if (queue === null) return <span class="soft">none</span>
  return (
    <span class="job-queue" title={visible(queue)}>
      <Verbatim text={queue} />
    </span>
  )
}

/** The status of the answer, or why there is none. */
function Answer({ response_status: status, failure_reason: reason, error_message: message }: JobSummary) {
  if (reason === null)
    return status === null ? <span class="soft">–</span> : <span class="number">{status}</span>
  return (
    <span class="job-answer" title={message === null ? undefined : visible(message)}>
      {answerText(reason, status)}
      {message !== null && isMessageNews(reason) && (
        <span class="job-message soft">
          {' · '}
          <Verbatim text={message} />
        </span>
      )}
    </span>
  )
}

function Tags({ tags }: JobSummary) {
  const text = Object.entries(tags)
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ')
  if (text === '') return <span class="soft">–</span>
  return (
    <span class="job-tags">
      <Verbatim text={text} title={text} />
    </span>
  )
}

function Took({ duration_ms: ms }: JobSummary) {
  return ms === null ? <span class="soft">–</span> : <>{formatDuration(ms)}</>
}
