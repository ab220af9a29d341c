import type { JobSummary } from '../../../../clients/typescript/src/client.ts'
import { at } from '../../app/paths.ts'
import { reasonText } from '../../format/failure-reasons.ts'
import { formatDuration } from '../../format/times.ts'
import { type Column, type Selection, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { JobBadge } from './job-badge.tsx'
import './job-table.css'

export function JobTable({
  jobs,
  isBusy,
  selection,
}: {
  readonly jobs: readonly JobSummary[]
  /** What is shown is of the filter before. */
  readonly isBusy: boolean
  readonly selection?: Selection<number>
}) {
  const columns: ReadonlyArray<Column<JobSummary>> = [
    { head: 'Job', cell: ({ job_id: id }) => <span class="number">{id}</span> },
    { head: 'State', cell: (job) => <JobBadge job={job} nowMs={Date.now()} /> },
    { head: 'Request', isWide: true, cell: Request },
    { head: 'Queue', isExtra: true, cell: Queue },
    { head: 'Answer', cell: Answer },
    { head: 'Attempt', align: 'end', isExtra: true, cell: ({ attempt_number: attempt }) => attempt },
    { head: 'Took', align: 'end', isExtra: true, cell: Took },
    {
      head: 'When',
      align: 'end',
      cell: (job) => <Time at={job.completed_at ?? job.started_at ?? job.scheduled_at} />,
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

function Request({ method, url }: JobSummary) {
  return (
    <span title={url}>
      <span class="soft">{method}</span> <bdi>{url.replace(/^https?:\/\//, '')}</bdi>
    </span>
  )
}

function Queue({ queue }: JobSummary) {
  if (queue === null) return <span class="soft">none</span>
  return (
    <span class="job-queue" title={queue}>
      <bdi>{queue}</bdi>
    </span>
  )
}

/** Without an answer, why there is none. */
function Answer({ response_status: status, failure_reason: reason }: JobSummary) {
  if (status !== null) return <span class="number">{status}</span>
  return <span class="soft">{reason === null ? '–' : reasonText(reason)}</span>
}

function Took({ duration_ms: ms }: JobSummary) {
  return ms === null ? <span class="soft">–</span> : <>{formatDuration(ms)}</>
}
