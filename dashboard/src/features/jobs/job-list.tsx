import { useState } from 'preact/hooks'
import type { JobSummary } from '../../../../clients/typescript/src/client.ts'
import { usePages } from '../../api/reads.ts'
import { at } from '../../app/paths.ts'
import { useUrlQuery } from '../../app/url-query.ts'
import { plural } from '../../format/numbers.ts'
import { formatDuration } from '../../format/times.ts'
import { Chips } from '../../ui/chips.tsx'
import { Empty, Fault, Loading } from '../../ui/empty.tsx'
import { MorePages } from '../../ui/more-pages.tsx'
import { Page, Panel } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Time, useNow } from '../../ui/time.tsx'
import { FilterBar } from './filter-bar.tsx'
import { chipsOf, filterOf } from './job-filter.ts'
import { JobBadge } from './job-state.tsx'

const PAGE_SIZE = 50

/** Jobs of all queues, by filters that the address holds. */
export function JobList() {
  const { values, set, clear } = useUrlQuery()
  const filter = filterOf(values)
  const jobs = usePages('listJobs', { ...filter, limit: PAGE_SIZE })
  const rows = jobs.data?.pages.flatMap((page) => page.jobs) ?? []
  const searched = jobs.data?.pages.reduce((sum, page) => sum + (page.searched ?? 0), 0) ?? 0
  const chips = chipsOf(values)
  return (
    <Page title="Jobs">
      <FilterBar values={values} onChange={set} />
      <Chips chips={chips} onRemove={(name) => set({ [name]: null })} onClear={() => clear()} />
      <Panel isFlush>
        {jobs.isPending && <Loading what="jobs" />}
        {jobs.isError && <Fault fault={jobs.error} onRetry={() => void jobs.refetch()} />}
        {jobs.isSuccess && rows.length === 0 && (
          <NoJobs
            isFiltered={chips.length > 0}
            isEnd={!jobs.hasNextPage}
            searched={searched}
            onClear={() => clear()}
          />
        )}
        {rows.length > 0 && <Rows rows={rows} />}
        {searched > 0 && rows.length > 0 && (
          <p class="list-note soft">{plural(searched, 'record')} looked at for these.</p>
        )}
        <MorePages query={jobs} what={rows.length === 0 ? 'of the search' : 'jobs'} />
      </Panel>
    </Page>
  )
}

function Rows({ rows }: { readonly rows: readonly JobSummary[] }) {
  const nowMs = useNow()
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set())
  const columns: ReadonlyArray<Column<JobSummary>> = [
    { head: 'Job', cell: ({ job_id: id }) => <span class="number">{id}</span> },
    { head: 'State', cell: (job) => <JobBadge job={job} nowMs={nowMs} /> },
    {
      head: 'Request',
      isWide: true,
      cell: ({ method, url }) => (
        <span title={url}>
          <span class="soft">{method}</span> {url.replace(/^https?:\/\//, '')}
        </span>
      ),
    },
    { head: 'Queue', isExtra: true, cell: ({ queue }) => queue ?? <span class="soft">none</span> },
    { head: 'Attempt', align: 'end', isExtra: true, cell: ({ attempt_number: attempt }) => attempt },
    {
      head: 'Answer',
      align: 'end',
      cell: ({ response_status: status }) => status ?? <span class="soft">–</span>,
    },
    {
      head: 'Took',
      align: 'end',
      isExtra: true,
      cell: ({ duration_ms: ms }) => (ms === null ? <span class="soft">–</span> : formatDuration(ms)),
    },
    {
      head: 'When',
      align: 'end',
      cell: (job) => <Time at={job.completed_at ?? job.started_at ?? job.scheduled_at} />,
    },
  ]
  return (
    <Table
      caption="Jobs"
      rows={rows}
      columns={columns}
      keyOf={({ job_id: id }) => id}
      hrefOf={({ job_id: id }) => at(`/jobs/${id}`)}
      selection={{ chosen, onChange: setChosen }}
    />
  )
}

function NoJobs({
  isFiltered,
  isEnd,
  searched,
  onClear,
}: {
  readonly isFiltered: boolean
  readonly isEnd: boolean
  readonly searched: number
  onClear(): void
}) {
  if (!isFiltered) {
    return (
      <Empty icon="jobs" title="No jobs yet">
        <a href={at('/send')}>Send a first job</a>
      </Empty>
    )
  }
  return (
    <Empty icon="filter" title={isEnd ? 'No job matches these filters' : 'No match so far'}>
      {searched > 0 && <p>{plural(searched, 'record')} looked at.</p>}
      <button type="button" class="link" onClick={onClear}>
        Clear the filters
      </button>
    </Empty>
  )
}
