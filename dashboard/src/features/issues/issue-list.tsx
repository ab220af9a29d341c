import type { Issue } from '../../../../clients/typescript/src/client.ts'
import { usePages } from '../../api/reads.ts'
import { formatCount } from '../../format/numbers.ts'
import { at } from '../../routing/paths.ts'
import { useUrlQuery } from '../../routing/url-query.ts'
import { ChoiceBar } from '../../ui/forms/choice-bar.tsx'
import { Empty, QueryStatus } from '../../ui/page/empty.tsx'
import { Page, Panel } from '../../ui/page/page.tsx'
import { MorePages } from '../../ui/tables/more-pages.tsx'
import { SteadyRows } from '../../ui/tables/steady-rows.tsx'
import { type Column, Table } from '../../ui/tables/table.tsx'
import { StateBadge } from '../../ui/text/badge.tsx'
import { Time, useNow } from '../../ui/text/time.tsx'
import { failureOf, hourly, STATES } from './issue-text.ts'
import './issues.css'
import { Spark } from './spark.tsx'
import { Verbatim } from '../../ui/text/verbatim.tsx'

const PAGE_SIZE = 100
const SPARK_HOURS = 24
const SPARK_HEIGHT = 20

/** What is shown where the address says nothing: neither what is over nor what nobody wants to hear of. */
const CURRENT = 'open,acknowledged'
const ALL = 'all'

const CHOICES = [
  { value: '', label: 'Current' },
  ...Object.entries(STATES).map(([value, { label }]) => ({ value, label })),
  { value: ALL, label: 'All' },
]

/** What fails, grouped by queue, reason, status and host; those that failed last come first. */
export function IssueList() {
  const { values, set } = useUrlQuery()
  const state = CHOICES.find(({ value }) => value === values['state'])?.value ?? ''
  const issues = usePages('listIssues', {
    limit: PAGE_SIZE,
    ...(state !== ALL && { state: state === '' ? CURRENT : state }),
  })
  const rows = issues.data?.pages.flatMap((page) => page.issues) ?? []
  return (
    <Page title="Issues">
      <div class="issue-states">
        <ChoiceBar
          label="State"
          options={CHOICES}
          value={state}
          onChange={(value) => set({ state: value })}
        />
      </div>
      <Panel isFlush>
        <QueryStatus query={issues} what="issues" />
        {issues.isSuccess && rows.length === 0 && (
          <Empty icon="check" title={emptyTitle(state)}>
            <p>
              Attempts that fail alike, in one queue and at one host, are an issue. It stays here for 7 days
              after its last failure.
            </p>
          </Empty>
        )}
        {rows.length > 0 && (
          <SteadyRows
            latest={rows}
            keyOf={({ id }) => id}
            scope={`${state} ${issues.data?.pages.length ?? 0} ${issues.isPlaceholderData}`}
            what="issue"
          >
            {(shown) => <IssueTable issues={shown} />}
          </SteadyRows>
        )}
        <MorePages query={issues} what="issues" />
      </Panel>
    </Page>
  )
}

function emptyTitle(state: string): string {
  if (state === ALL) return 'No issues'
  return state === ''
    ? 'No issue is open'
    : `No issue is ${STATES[state as Issue['state']].label.toLowerCase()}`
}

function IssueTable({ issues }: { readonly issues: readonly Issue[] }) {
  const columns: ReadonlyArray<Column<Issue>> = [
    { head: 'Failure', isWide: true, cell: (issue) => <What issue={issue} /> },
    {
      head: 'State',
      cell: ({ state }) => <StateBadge table={STATES} state={state} />,
    },
    { head: 'Last 24 hours', isExtra: true, cell: (issue) => <Day issue={issue} /> },
    { head: 'Failed', align: 'end', isExtra: true, cell: ({ count }) => formatCount(count) },
    {
      head: 'Dead letters',
      align: 'end',
      isExtra: true,
      cell: ({ dead_lettered: dead }) => formatCount(dead),
    },
    { head: 'Since', align: 'end', isExtra: true, cell: ({ opened_at: since }) => <Time at={since} /> },
    { head: 'Last', align: 'end', cell: ({ last_at: last }) => <Time at={last} /> },
  ]
  return (
    <div class="issue-table">
      <Table
        caption="Issues"
        rows={issues}
        columns={columns}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => at(`/issues/${id}`)}
      />
    </div>
  )
}

function What({ issue }: { readonly issue: Issue }) {
  return (
    <span class="issue-what">
      <Verbatim text={failureOf(issue)} />
      <span class="soft">
        {issue.resource.kind} <Verbatim text={issue.resource.name} />
      </span>
    </span>
  )
}

function Day({ issue }: { readonly issue: Issue }) {
  const nowMs = useNow()
  return <Spark values={hourly(issue, SPARK_HOURS, nowMs)} height={SPARK_HEIGHT} />
}
