import { useLocation } from 'preact-iso'
import type { CronSummary } from '../../../../clients/typescript/src/client.ts'
import { useMay } from '../../session/me.ts'
import { usePages } from '../../api/reads.ts'
import { at } from '../../routing/paths.ts'
import { useUrlQuery } from '../../routing/url-query.ts'
import { formatCount, plural } from '../../format/numbers.ts'
import { LinkButton, TextButton } from '../../ui/button.tsx'
import { ChoiceBar } from '../../ui/forms/choice-bar.tsx'
import { Empty, QueryStatus } from '../../ui/page/empty.tsx'
import { MorePages } from '../../ui/tables/more-pages.tsx'
import { Page, Panel } from '../../ui/page/page.tsx'
import { type Column, Table } from '../../ui/tables/table.tsx'
import { Time } from '../../ui/text/time.tsx'
import { CronMenu } from './cron-actions.tsx'
import { NewCronDialog } from './form/cron-dialog.tsx'
import { CronBadge, isFailing, RunBadge } from './cron-state.tsx'
import './cron-list.css'
import { Verbatim } from '../../ui/text/verbatim.tsx'

/** More than a team may have by default, so that the search looks at all. */
const PAGE_SIZE = 1_000

/** The list with the form over it. */
export const NEW_PATH = '/crons/new'

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
  const { path, route } = useLocation()
  const isMaking = useMay('edit') && path === at(NEW_PATH)
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
      {isMaking && <NewCronDialog onClose={() => route(at('/crons'), true)} />}
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
          value,
          label: `${label} ${formatCount(crons.filter(is).length)}`,
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
  { head: 'Name', isWide: true, cell: ({ name }) => <Verbatim text={name} title={name} /> },
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
  return useMay('edit') ? (
    <LinkButton icon="plus" href={at(NEW_PATH)}>
      New cron
    </LinkButton>
  ) : null
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
