import { useState } from 'preact/hooks'
import type { CronSummary } from '../../../../clients/typescript/src/client.ts'
import { useMay } from '../../api/me.ts'
import { usePages } from '../../api/reads.ts'
import { at } from '../../app/paths.ts'
import { useUrlQuery } from '../../app/url-query.ts'
import { formatCount, plural } from '../../format/numbers.ts'
import { Button, TextButton } from '../../ui/button.tsx'
import { ChoiceBar } from '../../ui/choice-bar.tsx'
import { Empty, QueryStatus } from '../../ui/empty.tsx'
import { MorePages } from '../../ui/more-pages.tsx'
import { Page, Panel } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { CronMenu } from './cron-actions.tsx'
import { NewCronDialog } from './form/cron-dialog.tsx'
import { CronBadge, isFailing, RunBadge } from './cron-state.tsx'
import './cron-list.css'

/** More than a team may have by default, so that the search looks at all. */
const PAGE_SIZE = 1_000

const STATES: ReadonlyArray<readonly [name: string, label: string, is: (cron: CronSummary) => boolean]> = [
  ['', 'All', () => true],
  ['active', 'Active', (cron) => cron.is_active],
  ['failing', 'Failing', isFailing],
  ['paused', 'Paused', (cron) => !cron.is_active],
]

export function CronList() {
  const crons = usePages('listCrons', { limit: PAGE_SIZE })
  const { values, set, clear } = useUrlQuery()
  const all = crons.data?.pages.flatMap((page) => page.crons) ?? []
  const shown = all.filter(isSought(values))
  const mayOperate = useMay('operate')
  return (
    <Page title="Crons" actions={<NewCron />}>
      <Panel
        isFlush
        title={crons.hasNextPage ? `The first ${plural(all.length, 'cron')}` : plural(all.length, 'cron')}
        actions={<Filters values={values} crons={all} onChange={set} />}
      >
        <QueryStatus query={crons} what="crons" />
        {crons.isSuccess && all.length === 0 && <NoCrons />}
        {all.length > 0 && shown.length === 0 && (
          <Empty icon="filter" title="No cron matches">
            <TextButton onClick={() => clear()}>Show all crons</TextButton>
          </Empty>
        )}
        {shown.length > 0 && (
          <Table
            caption="Crons"
            rows={shown}
            columns={mayOperate ? [...COLUMNS, ACTIONS] : COLUMNS}
            keyOf={({ id }) => id}
            hrefOf={({ id }) => at(`/crons/${id}`)}
          />
        )}
        <MorePages query={crons} what="crons" />
      </Panel>
    </Page>
  )
}

type Values = Readonly<Record<string, string>>

function isSought({ text = '', state = '' }: Values): (cron: CronSummary) => boolean {
  const sought = text.toLowerCase()
  const [, , isOf] = STATES.find(([name]) => name === state) ?? STATES[0] ?? []
  return (cron) =>
    isOf?.(cron) !== false &&
    [cron.name, cron.url, cron.queue ?? ''].some((one) => one.toLowerCase().includes(sought))
}

function Filters({
  values: { text = '', state = '' },
  crons,
  onChange,
}: {
  readonly values: Values
  readonly crons: readonly CronSummary[]
  onChange(changes: Values): void
}) {
  return (
    <>
      <ChoiceBar
        label="State"
        options={STATES.map(([value, label, is]) => ({
          ...{ value, label: `${label} ${formatCount(crons.filter(is).length)}` },
        }))}
        value={state}
        onChange={(value) => onChange({ state: value })}
      />
      <div class="bar">
        <input
          type="search"
          aria-label="Show crons whose name, URL or queue contains"
          placeholder="Name, URL or queue"
          value={text}
          onInput={(event) => onChange({ text: event.currentTarget.value })}
        />
      </div>
    </>
  )
}

const COLUMNS: ReadonlyArray<Column<CronSummary>> = [
  { head: 'Name', isWide: true, cell: ({ name }) => <bdi title={name}>{name}</bdi> },
  { head: 'State', cell: (cron) => <CronBadge cron={cron} /> },
  {
    head: 'Schedule',
    isExtra: true,
    cell: ({ description, cron_expression: expression, time_zone: zone }) => (
      <div class="cron-schedule">
        <span title={description}>{description}</span>
        <small>
          <code>{expression}</code> {zone}
        </small>
      </div>
    ),
  },
  {
    head: 'Next run',
    align: 'end',
    cell: ({ next_run_at: next }) => <Time at={next} form="exact" absent="paused" />,
  },
  { head: 'Last run', cell: LastRun },
]

const ACTIONS: Column<CronSummary> = {
  head: 'Actions',
  align: 'end',
  cell: (cron) => <CronMenu cron={cron} />,
}

function LastRun({ last_run: run, consecutive_failures: failures }: CronSummary) {
  if (run === null) return <span class="soft">not yet</span>
  return (
    <span class="cron-last">
      <RunBadge run={run} />
      <span>
        <Time at={run.scheduled_at} />
        {failures > 0 && <small>{formatCount(failures)} failed in a row</small>}
      </span>
    </span>
  )
}

function NewCron() {
  const [isOpen, setIsOpen] = useState(false)
  if (!useMay('edit')) return null
  return (
    <>
      <Button icon="plus" onClick={() => setIsOpen(true)}>
        New cron
      </Button>
      {isOpen && <NewCronDialog onClose={() => setIsOpen(false)} />}
    </>
  )
}

function NoCrons() {
  return (
    <Empty icon="cron" title="No crons yet">
      <p>
        A cron is a request that recurs, such as a report every night. Each run is a job, with its own page.
      </p>
      <NewCron />
    </Empty>
  )
}
