import type { JobSummary, Queue } from '../../../../clients/typescript/src/client.ts'
import { useRead } from '../../api/reads.ts'
import { failureText, isMessageNews } from '../../format/failure-reasons.ts'
import { at } from '../../routing/paths.ts'
import { Empty, QueryStatus } from '../../ui/page/empty.tsx'
import { Panel } from '../../ui/page/page.tsx'
import { SteadyRows } from '../../ui/tables/steady-rows.tsx'
import { type Column, Table } from '../../ui/tables/table.tsx'
import { Time } from '../../ui/text/time.tsx'
import { Verbatim } from '../../ui/text/verbatim.tsx'
import './last-failures.css'

const SHOWN_MAX = 10

/** The jobs of a queue that failed last: what one opens its page for in an outage. */
export function LastFailures({ queue: { name } }: { readonly queue: Queue }) {
  const filter = { queue: name, status: 'failed,dead_lettered' }
  const failed = useRead('listJobs', { ...filter, order: 'newest', limit: SHOWN_MAX })
  const jobs = failed.data?.jobs ?? []
  return (
    <Panel isFlush title="The last failures" actions={<a href={at('/jobs', filter)}>All failed jobs</a>}>
      <QueryStatus query={failed} what="its failures" />
      {failed.isSuccess && jobs.length === 0 && (
        <Empty icon="check" title="Nothing has failed">
          <p>Attempts that fail stand here, the newest first, for as long as they are kept.</p>
        </Empty>
      )}
      {jobs.length > 0 && (
        <SteadyRows latest={jobs} keyOf={keyOf} scope={name} what="failure">
          {(rows) => (
            <Table
              caption="The last failures"
              rows={rows}
              columns={COLUMNS}
              keyOf={keyOf}
              hrefOf={({ job_id: id }) => at(`/jobs/${id}`)}
            />
          )}
        </SteadyRows>
      )}
    </Panel>
  )
}

const keyOf = ({ job_id: id }: JobSummary): number => id

const COLUMNS: ReadonlyArray<Column<JobSummary>> = [
  { head: 'Job', cell: ({ job_id: id }) => <span class="number">{id}</span> },
  { head: 'Failure', isWide: true, cell: Failure },
  { head: 'Request', isExtra: true, cell: Request },
  { head: 'Attempt', align: 'end', isExtra: true, cell: ({ attempt_number: attempt }) => attempt },
  { head: 'When', align: 'end', cell: ({ completed_at: ended }) => <Time at={ended} /> },
]

function Failure({ failure_reason: reason, response_status: status, error_message: message }: JobSummary) {
  return (
    <>
      {failureText(reason, status)}
      {message !== null && isMessageNews(reason) && (
        <span class="soft">
          {' · '}
          <Verbatim text={message} title={message} />
        </span>
      )}
    </>
  )
}

function Request({ method, url }: JobSummary) {
  return (
    <span class="failure-request">
      <span class="soft">{method}</span> <Verbatim text={url.replace(/^https?:\/\//, '')} title={url} />
    </span>
  )
}
