import { useState } from 'preact/hooks'
import type { Bulk, BulkFailure } from '../../../../../clients/typescript/src/client.ts'
import { at } from '../../../routing/paths.ts'
import { formatCount, plural } from '../../../format/numbers.ts'
import { Button } from '../../../ui/button.tsx'
import '../../../ui/tables/more-pages.css'
import { Panel } from '../../../ui/page/page.tsx'
import { type Column, Table } from '../../../ui/tables/table.tsx'
import { failureText } from './failure-text.ts'

const SHOWN_AT_ONCE = 200

const COLUMNS: ReadonlyArray<Column<BulkFailure>> = [
  { head: 'Job', cell: ({ job_id: id }) => <span class="number">{id}</span> },
  { head: 'Why', isWide: true, cell: ({ reason }) => failureText(reason) },
]

/** The jobs that nothing could be done to, as far as they are named. */
export function Failures({ bulk }: { readonly bulk: Bulk }) {
  const [shown, setShown] = useState(SHOWN_AT_ONCE)
  const named = bulk.failures ?? []
  if (named.length === 0) return null
  const isAll = named.length >= bulk.failed
  return (
    <Panel
      isFlush
      title={
        isAll
          ? `Not done to ${plural(named.length, 'job')}`
          : `Not done to ${formatCount(bulk.failed)} jobs; ${formatCount(named.length)} are named`
      }
    >
      <Table
        caption="Jobs that nothing could be done to"
        rows={named.slice(0, shown)}
        columns={COLUMNS}
        keyOf={({ job_id: id }) => id}
        hrefOf={({ job_id: id }) => at(`/jobs/${id}`)}
      />
      {named.length > shown && (
        <div class="more-pages">
          <Button onClick={() => setShown(shown + SHOWN_AT_ONCE)}>Show more jobs</Button>
        </div>
      )}
    </Panel>
  )
}
