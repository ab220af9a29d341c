import type { Bulk } from '../../../../../clients/typescript/src/client.ts'
import { usePages } from '../../../api/reads.ts'
import { at } from '../../../routing/paths.ts'
import { chipsOf, valuesOf } from '../job-filter.ts'
import { formatCount, plural } from '../../../format/numbers.ts'
import { Empty, QueryStatus } from '../../../ui/page/empty.tsx'
import { MorePages } from '../../../ui/tables/more-pages.tsx'
import { Page, Panel } from '../../../ui/page/page.tsx'
import { SteadyRows } from '../../../ui/tables/steady-rows.tsx'
import { type Column, Table } from '../../../ui/tables/table.tsx'
import { Time, useZone } from '../../../ui/text/time.tsx'
import { ACTIONS } from './bulk-actions.ts'
import { BulkBadge } from './bulk-state.tsx'
import { Progress } from './progress/progress.tsx'
import { Verbatim } from '../../../ui/text/verbatim.tsx'

const PAGE_SIZE = 50
const EVERY_MS = 2_000

/** What was done to many jobs at once: the last 100 of the team. */
export function BulkList() {
  const bulks = usePages('listBulks', { limit: PAGE_SIZE }, { everyMs: EVERY_MS })
  const zone = useZone()
  const all = bulks.data?.pages.flatMap((page) => page.bulks) ?? []
  return (
    <Page title="Bulk actions">
      <Panel isFlush title="The last 100, kept for 30 days">
        <QueryStatus query={bulks} what="bulk actions" />
        {bulks.isSuccess && all.length === 0 && <NoBulks />}
        {all.length > 0 && (
          <SteadyRows
            latest={all}
            keyOf={({ id }) => id}
            scope={String(bulks.data?.pages.length)}
            what="bulk"
          >
            {(rows) => (
              <Table
                caption="Bulk actions"
                rows={rows}
                columns={columnsIn(zone)}
                keyOf={({ id }) => id}
                hrefOf={({ id }) => at(`/bulk/${id}`)}
              />
            )}
          </SteadyRows>
        )}
        <MorePages query={bulks} what="bulk actions" />
      </Panel>
    </Page>
  )
}

function columnsIn(zone: string): ReadonlyArray<Column<Bulk>> {
  return [
    { head: 'Action', cell: ({ action }) => ACTIONS[action].verb },
    { head: 'State', cell: (bulk) => <BulkBadge bulk={bulk} /> },
    { head: 'Of', isWide: true, isExtra: true, cell: (bulk) => <Filter bulk={bulk} zone={zone} /> },
    { head: 'Progress', cell: (bulk) => <Progress bulk={bulk} /> },
    {
      head: 'Failed',
      align: 'end',
      isExtra: true,
      cell: ({ failed }) => (failed === 0 ? <span class="soft">0</span> : formatCount(failed)),
    },
    { head: 'By', isExtra: true, cell: ({ created_by: by }) => <Verbatim text={by} /> },
    { head: 'Begun', align: 'end', cell: ({ created_at: begun }) => <Time at={begun} /> },
  ]
}

function Filter({ bulk, zone }: { readonly bulk: Bulk; readonly zone: string }) {
  if (bulk.filter === null) return <>{plural(bulk.matched, 'chosen job')}</>
  const chips = chipsOf(valuesOf(bulk.filter), zone)
  if (chips.length === 0) return <>All jobs that it is for</>
  return (
    <span title={chips.map(({ label, value }) => `${label}: ${value}`).join('\n')}>
      <Verbatim text={chips.map(({ value }) => value).join(' · ')} />
    </span>
  )
}

function NoBulks() {
  return (
    <Empty icon="bulk" title="No bulk actions yet">
      <p>
        Choose jobs in the list, or all that match its filters, and retry, replay, cancel or delete them at
        once. What becomes of it stands here.
      </p>
      <a href={at('/jobs')}>To the jobs</a>
    </Empty>
  )
}
