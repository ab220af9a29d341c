import { useState } from 'preact/hooks'
import { useMay } from '../../api/me.ts'
import { at } from '../../app/paths.ts'
import { useUrlQuery } from '../../app/url-query.ts'
import { chipsOf } from '../../format/job-filter.ts'
import { formatCount } from '../../format/numbers.ts'
import { Chips } from '../../ui/chips.tsx'
import { Empty, Fault, Loading } from '../../ui/empty.tsx'
import { Page, Panel } from '../../ui/page.tsx'
import { SteadyRows } from '../../ui/steady-rows.tsx'
import { useZone } from '../../ui/time.tsx'
import { FilterBar } from './filter-bar.tsx'
import { useJobPages } from './job-pages.ts'
import { orderText } from './order-text.ts'
import { JobTable } from './job-table.tsx'
import './list-foot.css'
import { ListFoot } from './list-foot.tsx'
import { SelectionBar } from './selection-bar.tsx'

const NONE: ReadonlySet<number> = new Set()

/** Jobs of all queues, by filters that the address holds. */
export function JobList() {
  const { values, set, clear } = useUrlQuery()
  const list = useJobPages(values)
  const { jobs, rows } = list
  const [chosen, setChosen] = useState(NONE)
  const [isAll, setIsAll] = useState(false)
  const mayOperate = useMay('operate')
  const chips = chipsOf(values, useZone())
  const choose = (next: ReadonlySet<number>): void => {
    setChosen(next)
    setIsAll(false)
  }
  const change = (changes: Readonly<Record<string, string | null>>): void => {
    choose(NONE)
    set(changes)
  }
  const clearAll = (): void => {
    choose(NONE)
    clear()
  }
  const chosenRows = rows.filter(({ job_id: id }) => chosen.has(id))
  return (
    <Page title="Jobs">
      <FilterBar values={values} onChange={change} />
      <Chips chips={chips} onRemove={(name) => change({ [name]: null })} onClear={clearAll} />
      <p class="soft list-order">{orderText(values)}</p>
      <Panel isFlush>
        {jobs.isPending && <Loading what="jobs" />}
        {jobs.isError && <Fault fault={jobs.error} onRetry={() => void jobs.refetch()} />}
        {jobs.isSuccess && rows.length === 0 && (
          <NoJobs
            isFiltered={chips.length > 0}
            isEnd={!jobs.hasNextPage}
            searched={list.searched}
            onClear={clearAll}
          />
        )}
        {rows.length > 0 && (
          <SteadyRows
            latest={rows}
            keyOf={({ job_id: id }) => id}
            scope={list.scope}
            isHeld={chosen.size > 0}
            what="job"
          >
            {(shown) => (
              <JobTable
                jobs={shown}
                isBusy={jobs.isPlaceholderData}
                {...(mayOperate && { selection: { chosen, onChange: choose } })}
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
          isAll={isAll}
          onAll={isAll ? undefined : () => setIsAll(true)}
          onClear={() => choose(NONE)}
        />
      )}
    </Page>
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
          Searched {formatCount(searched)} records{isEnd ? ', all there are' : ''}.
        </p>
      )}
      <button type="button" class="link" onClick={onClear}>
        Clear the filters
      </button>
    </Empty>
  )
}
