import { usePages } from '../../api/reads.ts'
import { useUrlQuery } from '../../routing/url-query.ts'
import { TextButton } from '../../ui/button.tsx'
import { Chips } from '../../ui/tables/chips.tsx'
import { Empty, QueryStatus } from '../../ui/page/empty.tsx'
import { MorePages } from '../../ui/tables/more-pages.tsx'
import { Page, Panel } from '../../ui/page/page.tsx'
import { SteadyRows } from '../../ui/tables/steady-rows.tsx'
import { useZone } from '../../ui/text/time.tsx'
import { chipsOf, filterOf } from './audit-filter.ts'
import './audit.css'
import { FilterBar } from './filter-bar.tsx'
import { RecordTable } from './record-table.tsx'

const PAGE_SIZE = 50

/** Who changed what, and when. */
export function AuditLog() {
  const { values, set, clear } = useUrlQuery()
  const filter = filterOf(values)
  const records = usePages('listAuditRecords', { ...filter, limit: PAGE_SIZE })
  const chips = chipsOf(values, useZone())
  const all = records.data?.pages.flatMap((page) => page.records) ?? []
  return (
    <Page title="Audit log">
      <FilterBar values={values} onChange={set} />
      <Chips chips={chips} onRemove={(name) => set({ [name]: null })} onClear={() => clear()} />
      <Panel isFlush>
        <QueryStatus query={records} what="the audit log" />
        {records.isSuccess && all.length === 0 && (
          <None isFiltered={chips.length > 0} isEnd={!records.hasNextPage} onClear={() => clear()} />
        )}
        {all.length > 0 && (
          <SteadyRows
            latest={all}
            keyOf={({ id }) => id}
            scope={JSON.stringify([filter, records.data?.pages.length, records.isPlaceholderData])}
            what="change"
          >
            {(rows) => <RecordTable records={rows} />}
          </SteadyRows>
        )}
        <MorePages query={records} what="changes" />
      </Panel>
    </Page>
  )
}

function None({
  isFiltered,
  isEnd,
  onClear,
}: {
  readonly isFiltered: boolean
  readonly isEnd: boolean
  onClear(): void
}) {
  if (!isFiltered && isEnd) {
    return (
      <Empty icon="audit" title="No changes yet">
        <p>Who changes a queue, a cron, a token or anything else of the team stands here, for 90 days.</p>
      </Empty>
    )
  }
  return (
    <Empty icon="filter" title={isEnd ? 'No change matches these filters' : 'None so far'}>
      {isFiltered && <TextButton onClick={onClear}>Clear the filters</TextButton>}
    </Empty>
  )
}
