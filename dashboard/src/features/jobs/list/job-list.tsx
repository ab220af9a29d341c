import { useMay, useMayBulk } from '../../../session/me.ts'
import { at } from '../../../routing/paths.ts'
import { useUrlQuery } from '../../../routing/url-query.ts'
import { chipsOf, type FilterValues, isForBulk, type JobOrder, orderOf } from '../job-filter.ts'
import { formatCount } from '../../../format/numbers.ts'
import { TextButton } from '../../../ui/button.tsx'
import { Chips } from '../../../ui/tables/chips.tsx'
import { useChoice } from '../../../ui/tables/choice.ts'
import { Empty, QueryStatus } from '../../../ui/page/empty.tsx'
import { Page, Panel } from '../../../ui/page/page.tsx'
import { SteadyRows } from '../../../ui/tables/steady-rows.tsx'
import { useZone } from '../../../ui/text/time.tsx'
import { FilterBar } from './filter-bar.tsx'
import { useJobPages } from './job-pages.ts'
import { orderText } from './order-text.ts'
import { JobTable } from './job-table.tsx'
import './list-foot.css'
import { ListFoot } from './list-foot.tsx'
import { SelectionBar } from './selection-bar.tsx'

/** Jobs of all queues, by filters that the address holds. */
export function JobList() {
  const { values, set, clear } = useUrlQuery()
  const mayText = useMay('payloads')
  const chips = chipsOf(values, useZone())
  return (
    <Page title="Jobs">
      <FilterBar values={values} onChange={set} />
      <Chips chips={chips} onRemove={(name) => set({ [name]: null })} onClear={() => clear()} />
      {values['text'] !== undefined && !mayText ? (
        <Panel>
          <Refused onClear={() => set({ text: null })} />
        </Panel>
      ) : (
        <Listed
          values={values}
          isFiltered={chips.length > 0}
          onOrder={(order) => set({ order })}
          onClear={() => clear()}
        />
      )}
    </Page>
  )
}

function Listed({
  values,
  isFiltered,
  onOrder,
  onClear,
}: {
  readonly values: FilterValues
  readonly isFiltered: boolean
  onOrder(order: JobOrder): void
  onClear(): void
}) {
  const list = useJobPages(values)
  const { jobs, rows, searched } = list
  const choice = useChoice(list.asked)
  const mayBulk = useMayBulk()
  const chosenRows = rows.filter(({ job_id: id }) => choice.chosen.has(id))
  return (
    <>
      <p class="soft list-order">{orderText(values)}</p>
      <Panel isFlush>
        <QueryStatus query={jobs} what="jobs" />
        {jobs.isSuccess && rows.length === 0 && (
          <NoJobs isFiltered={isFiltered} searched={searched} onClear={onClear} isEnd={!jobs.hasNextPage} />
        )}
        {rows.length > 0 && (
          <SteadyRows
            latest={rows}
            keyOf={({ job_id: id }) => id}
            scope={list.scope}
            isHeld={chosenRows.length > 0}
            what="job"
          >
            {(shown) => (
              <JobTable
                jobs={shown}
                isBusy={jobs.isPlaceholderData}
                order={orderOf(values)}
                onOrder={onOrder}
                {...(mayBulk && { selection: { chosen: choice.chosen, onChange: choice.choose } })}
              />
            )}
          </SteadyRows>
        )}
        {jobs.isSuccess && <ListFoot list={list} />}
      </Panel>
      {chosenRows.length > 0 && (
        <SelectionBar
          jobs={chosenRows}
          values={values}
          isAll={choice.isAll}
          onAll={choice.isAll || !isForBulk(values) ? undefined : choice.chooseAll}
          onClear={() => choice.clear()}
        />
      )}
    </>
  )
}

/** What a search finds would tell what payloads hold. */
function Refused({ onClear }: { onClear(): void }) {
  return (
    <Empty icon="search" title="Your role does not search in text">
      <p>It does not see payloads, and what is found would tell what they hold.</p>
      <TextButton onClick={onClear}>Take the text out of the filters</TextButton>
    </Empty>
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
  const mayPush = useMay('push')
  if (!isFiltered && isEnd) {
    return (
      <Empty icon="jobs" title="No jobs yet">
        <p>What is pushed to a queue, and every run of a cron, stands here.</p>
        {mayPush && <a href={at('/send')}>Send a first job</a>}
      </Empty>
    )
  }
  return (
    <Empty icon="filter" title={isEnd ? 'No job matches these filters' : 'No match so far'}>
      {searched > 0 && (
        <p>
          Searched {formatCount(searched)} records{isEnd ? ', to the end' : ''}.
        </p>
      )}
      <TextButton onClick={onClear}>Clear the filters</TextButton>
    </Empty>
  )
}
