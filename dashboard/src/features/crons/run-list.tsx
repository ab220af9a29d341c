import type { CronRun } from '../../../../clients/typescript/src/client.ts'
import { textOf } from '../../format/values/known-values.ts'
import { at } from '../../routing/paths.ts'
import { useUrlQuery } from '../../routing/url-query.ts'
import { plural } from '../../format/numbers.ts'
import { formatStamp } from '../../format/times.ts'
import { TextButton } from '../../ui/button.tsx'
import { Chips } from '../../ui/tables/chips.tsx'
import { Empty } from '../../ui/page/empty.tsx'
import { Panel } from '../../ui/page/page.tsx'
import { SteadyRows } from '../../ui/tables/steady-rows.tsx'
import { type Column, Table } from '../../ui/tables/table.tsx'
import { Time, useZone } from '../../ui/text/time.tsx'
import { RunBadge } from './cron-state.tsx'

/** The records of a cron's ticks and manual runs, all or of a cell of the map. */
export function RunList({ runs, cronId }: { readonly runs: readonly CronRun[]; readonly cronId: number }) {
  const { values, set } = useUrlQuery()
  const zone = useZone()
  const { since = '', until = '' } = values
  const clear = (): void => set({ since: null, until: null })
  const isFiltered = since !== '' && until !== ''
  const found = isFiltered ? runs.filter(({ scheduled_at: run }) => since <= run && run <= until) : runs
  const stamps = [since, until].map((time) => formatStamp(Date.parse(time) || 0, zone).slice(0, 16))
  return (
    <Panel isFlush title="Records" actions={<a href={at('/jobs', { cron_id: cronId })}>Jobs of this cron</a>}>
      {isFiltered && (
        <div class="run-filter">
          <Chips
            chips={[{ name: 'since', label: 'Ticks', value: [...new Set(stamps)].join(' to ') }]}
            onRemove={clear}
            onClear={clear}
          />
        </div>
      )}
      {found.length === 0 && <NoRuns isFiltered={isFiltered} onClear={clear} />}
      {found.length > 0 && (
        <SteadyRows latest={found} keyOf={keyOf} scope={`${since} ${until}`} what="record">
          {(rows) => (
            <Table
              caption="Records of ticks and runs"
              rows={rows}
              columns={COLUMNS}
              keyOf={keyOf}
              hrefOf={hrefOf}
            />
          )}
        </SteadyRows>
      )}
    </Panel>
  )
}

function keyOf({ scheduled_at: time, job_id: job, result }: CronRun): string {
  return `${time} ${job ?? result}`
}

function hrefOf({ job_id: job }: CronRun): string | undefined {
  return job === null ? undefined : at(`/jobs/${job}`)
}

const COLUMNS: ReadonlyArray<Column<CronRun>> = [
  { head: 'Tick', cell: ({ scheduled_at: time }) => <Time at={time} form="stamp" /> },
  { head: 'Result', cell: (run) => <RunBadge run={run} /> },
  { head: 'Note', isWide: true, cell: (run) => <span class="soft">{noteOf(run)}</span> },
  {
    head: 'Job',
    align: 'end',
    isExtra: true,
    cell: ({ job_id: job }) => job ?? <span class="soft">none</span>,
  },
  { head: 'When', align: 'end', cell: ({ scheduled_at: time }) => <Time at={time} /> },
]

const CAUSES: Readonly<Record<NonNullable<CronRun['cause']>, string>> = {
  queue_draining: 'Its queue is draining',
}

function noteOf({ result, ticks, is_manual: isManual, cause }: CronRun): string {
  if (isManual) return 'Run by hand'
  if (result === 'skipped') {
    return cause === undefined ? 'The run before had not ended' : textOf(CAUSES, cause)
  }
  if (result === 'missed') return `${plural(ticks, 'tick')} could not run in time`
  return ticks > 1 ? `Runs for ${plural(ticks, 'missed tick')}` : ''
}

function NoRuns({ isFiltered, onClear }: { readonly isFiltered: boolean; onClear(): void }) {
  return isFiltered ? (
    <Empty icon="filter" title="No record of this time is left">
      <TextButton onClick={onClear}>Show all records</TextButton>
    </Empty>
  ) : (
    <Empty icon="cron" title="It has not run yet">
      <p>Its last 100 ticks and manual runs stand here.</p>
    </Empty>
  )
}
