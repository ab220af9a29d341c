import { useState } from 'preact/hooks'
import type { Queue } from '../../../../clients/typescript/src/client.ts'
import { useMay } from '../../api/me.ts'
import { usePages } from '../../api/reads.ts'
import { at } from '../../app/paths.ts'
import { formatCount, plural } from '../../format/numbers.ts'
import { TextButton } from '../../ui/button.tsx'
import { Empty, QueryStatus } from '../../ui/empty.tsx'
import { MorePages } from '../../ui/more-pages.tsx'
import { Page, Panel } from '../../ui/page.tsx'
import { SteadyRows } from '../../ui/steady-rows.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { QueueState } from './queue-state.tsx'

const PAGE_SIZE = 100

export function QueueList() {
  const queues = usePages('listQueues', { limit: PAGE_SIZE })
  const [sought, setSought] = useState('')
  const all = queues.data?.pages.flatMap((page) => page.queues) ?? []
  const shown = all.filter(({ name }) => name.toLowerCase().includes(sought.toLowerCase()))
  return (
    <Page title="Queues">
      <Panel
        isFlush
        title={queues.hasNextPage ? `The first ${plural(all.length, 'queue')}` : plural(all.length, 'queue')}
        actions={
          <div class="bar">
            <input
              type="search"
              aria-label="Show queues whose name contains"
              placeholder="Name contains"
              value={sought}
              onInput={(event) => setSought(event.currentTarget.value)}
            />
          </div>
        }
      >
        <QueryStatus query={queues} what="queues" />
        {queues.isSuccess && all.length === 0 && <NoQueues />}
        {all.length > 0 && shown.length === 0 && (
          <Empty icon="filter" title={`No name ${queues.hasNextPage ? 'so far ' : ''}contains “${sought}”`}>
            <TextButton onClick={() => setSought('')}>Show all queues</TextButton>
          </Empty>
        )}
        {shown.length > 0 && (
          <SteadyRows latest={shown} keyOf={idOf} scope={sought} what="queue">
            {(rows) => (
              <Table
                caption="Queues"
                rows={rows}
                columns={COLUMNS}
                keyOf={idOf}
                hrefOf={(queue) => at(`/queues/${idOf(queue)}`)}
              />
            )}
          </SteadyRows>
        )}
        <MorePages query={queues} what="queues" />
      </Panel>
    </Page>
  )
}

const idOf = ({ queue_id: id }: Queue): number => id

const COLUMNS: ReadonlyArray<Column<Queue>> = [
  { head: 'Name', isWide: true, cell: ({ name }) => name },
  { head: 'State', cell: (queue) => <QueueState queue={queue} /> },
  { head: 'Ready', align: 'end', cell: ({ counts }) => formatCount(counts.pending) },
  {
    head: 'In flight',
    align: 'end',
    isExtra: true,
    cell: ({ counts, max_parallelism: limit }) => (
      <>
        {formatCount(counts.processing)}
        {limit !== null && <span class="soft"> of {formatCount(limit)}</span>}
      </>
    ),
  },
  { head: 'Not due', align: 'end', isExtra: true, cell: ({ counts }) => formatCount(counts.delayed) },
  {
    head: 'Dead letters',
    align: 'end',
    cell: ({ counts, name }) =>
      counts.dead === 0 ? (
        <span class="soft">0</span>
      ) : (
        <a href={at('/dead-letters', { queue: name })}>{formatCount(counts.dead)}</a>
      ),
  },
]

function NoQueues() {
  const mayPush = useMay('push')
  return (
    <Empty icon="queue" title="No queues yet">
      <p>A queue is made by the first job that is pushed to it, or by an HttpQueue resource.</p>
      {mayPush && <a href={at('/send')}>Send a first job</a>}
    </Empty>
  )
}
