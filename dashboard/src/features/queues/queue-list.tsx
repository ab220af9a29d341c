import type { QueueRow } from '../../../../clients/typescript/src/client.ts'
import { useMay } from '../../session/me.ts'
import { usePages } from '../../api/reads.ts'
import { at } from '../../routing/paths.ts'
import { useUrlQuery } from '../../routing/url-query.ts'
import { textOf } from '../../format/values/known-values.ts'
import { formatCount, formatShare, plural } from '../../format/numbers.ts'
import { formatDuration } from '../../format/times.ts'
import { LinkButton, TextButton } from '../../ui/button.tsx'
import { ChoiceBar } from '../../ui/forms/choice-bar.tsx'
import { useSettled } from '../../ui/forms/settled.ts'
import { Empty, QueryStatus } from '../../ui/page/empty.tsx'
import { MorePages } from '../../ui/tables/more-pages.tsx'
import { Page, Panel } from '../../ui/page/page.tsx'
import { SteadyRows } from '../../ui/tables/steady-rows.tsx'
import { type Column, Table } from '../../ui/tables/table.tsx'
import { toneOfAge, toneOfFailed } from '../statistics/summary.ts'
import { HourSpark } from './hour-spark.tsx'
import { QueueState } from './queue-state.tsx'
import { STOPPED_WORDS } from './stops/stop-words.ts'
import { Verbatim } from '../../ui/text/verbatim.tsx'
import './queue-list.css'

const PAGE_SIZE = 100

const SORTS = [
  { value: 'trouble', label: 'Trouble' },
  { value: 'oldest', label: 'Oldest' },
  { value: 'failed', label: 'Failed' },
  { value: 'name', label: 'Name' },
] as const
type Sort = (typeof SORTS)[number]['value']

export function QueueList() {
  const { values, set, clear } = useUrlQuery()
  const { text = '' } = values
  const sort: Sort = SORTS.find(({ value }) => value === values['sort'])?.value ?? 'trouble'
  const sought = useSettled(text)
  const queues = usePages('listQueues', { limit: PAGE_SIZE, sort, ...(sought !== '' && { text: sought }) })
  const rows = queues.data?.pages.flatMap((page) => page.queues) ?? []
  const summary = queues.data?.pages.at(-1)?.summary ?? null
  const isEmpty = queues.isSuccess && rows.length === 0
  return (
    <Page title="Queues" actions={<NewQueue />}>
      <Panel
        isFlush
        title={titleOf(summary?.queues ?? rows.length, summary?.is_complete ?? !queues.hasNextPage)}
        actions={
          <>
            <ChoiceBar
              label="Sorted by"
              options={SORTS}
              value={sort}
              onChange={(name) => set({ sort: name === 'trouble' ? null : name })}
            />
            <div class="bar">
              <input
                type="search"
                aria-label="Show queues whose name contains"
                placeholder="Name contains"
                value={text}
                onInput={(event) => set({ text: event.currentTarget.value })}
              />
            </div>
          </>
        }
      >
        <QueryStatus query={queues} what="queues" />
        {isEmpty && sought === '' && <NoQueues />}
        {isEmpty && sought !== '' && (
          <Empty icon="filter" title={`No name ${queues.hasNextPage ? 'so far ' : ''}contains “${sought}”`}>
            <TextButton onClick={() => clear(['sort'])}>Show all queues</TextButton>
          </Empty>
        )}
        {rows.length > 0 && (
          <SteadyRows
            latest={rows}
            keyOf={idOf}
            scope={JSON.stringify([sort, sought, queues.isPlaceholderData])}
            what="queue"
          >
            {(steady) => <QueueTable rows={steady} />}
          </SteadyRows>
        )}
        <MorePages query={queues} what="queues" />
      </Panel>
    </Page>
  )
}

function QueueTable({ rows }: { readonly rows: readonly QueueRow[] }) {
  return (
    <div class="queue-table">
      <Table
        caption="Queues"
        rows={rows}
        columns={COLUMNS}
        keyOf={idOf}
        hrefOf={(queue) => at(`/queues/${idOf(queue)}`)}
      />
    </div>
  )
}

function titleOf(count: number, isComplete: boolean): string {
  return isComplete ? plural(count, 'queue') : `The first ${plural(count, 'queue')}`
}

const idOf = ({ queue_id: id }: QueueRow): number => id

const COLUMNS: ReadonlyArray<Column<QueueRow>> = [
  { head: 'Name', isWide: true, cell: ({ name }) => <Verbatim text={name} title={name} /> },
  { head: 'State', cell: (queue) => <QueueState queue={queue} stopped={queue.stopped} /> },
  { head: 'Ready', align: 'end', cell: (queue) => <Ready queue={queue} /> },
  { head: 'Oldest', align: 'end', cell: ({ oldest_startable_seconds: age }) => <Age seconds={age} /> },
  { head: 'Failed', align: 'end', cell: ({ last_hour: hour }) => <Failed hour={hour} /> },
  { head: 'Last hour', isExtra: true, cell: ({ last_hour: hour }) => <HourSpark hour={hour} /> },
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

/** Its ready jobs, and how many of them are stopped where that is not all or none. */
function Ready({ queue: { startable, stopped } }: { readonly queue: QueueRow }) {
  if (stopped === null) return <>{formatCount(startable)}</>
  return (
    <>
      {startable > 0 && `${formatCount(startable)} + `}
      {formatCount(stopped.jobs)} <span class="soft">{textOf(STOPPED_WORDS, stopped.reason)}</span>
    </>
  )
}

function Age({ seconds }: { readonly seconds: number | null }) {
  if (seconds === null) return <span class="soft">–</span>
  const tone = toneOfAge(seconds)
  const text = seconds === 0 ? '< 1 s' : formatDuration(seconds * 1_000)
  return tone === 'good' ? <>{text}</> : <span data-text-tone={tone}>{text}</span>
}

function Failed({ hour: { ended, failed } }: { readonly hour: QueueRow['last_hour'] }) {
  const share = formatShare(failed, ended)
  if (share === null || failed === 0) return <span class="soft">{share === null ? '–' : '0'}</span>
  return <span data-text-tone={toneOfFailed(failed, ended)}>{share}</span>
}

function NewQueue() {
  return useMay('edit') ? (
    <LinkButton icon="plus" href={at('/queues/new')}>
      New queue
    </LinkButton>
  ) : null
}

function NoQueues() {
  const mayPush = useMay('push')
  return (
    <Empty icon="queue" title="No queues yet">
      <p>A queue is made by the first job that is pushed to it, by an HttpQueue resource, or with a form.</p>
      {mayPush && <a href={at('/send')}>Send a first job</a>}
    </Empty>
  )
}
