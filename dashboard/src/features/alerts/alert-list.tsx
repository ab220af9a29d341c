import { useState } from 'preact/hooks'
import type { Alert } from '../../../../clients/typescript/src/client.ts'
import { useMay } from '../../session/me.ts'
import { usePages, useRead } from '../../api/reads.ts'
import { useUrlQuery } from '../../routing/url-query.ts'
import { ActionBar } from '../../ui/tables/action-bar.tsx'
import { Button, TextButton } from '../../ui/button.tsx'
import { Chips } from '../../ui/tables/chips.tsx'
import { useChoice } from '../../ui/tables/choice.ts'
import { Empty, QueryStatus } from '../../ui/page/empty.tsx'
import { MorePages } from '../../ui/tables/more-pages.tsx'
import { Page, Panel } from '../../ui/page/page.tsx'
import { SteadyRows } from '../../ui/tables/steady-rows.tsx'
import { useZone } from '../../ui/text/time.tsx'
import { type Meant, unreadOf, useMarkRead } from './alert-changes.ts'
import { chipsOf, filterOf, seenOf, type Values } from './alert-filter.ts'
import { AlertTable } from './alert-table.tsx'
import { alerts as alertsText } from './alert-text.ts'
import { FilterBar } from './filter-bar.tsx'
import { Removal } from './removal.tsx'

const PAGE_SIZE = 100

/** What a dialog asks about; `count` null = all that match, more than are shown. */
interface Asked {
  readonly meant: Meant
  readonly count: number | null
}

/** Alerts by filters that the address holds, and what can be done about many of them. */
export function AlertList() {
  const { values, set, clear } = useUrlQuery()
  const filter = filterOf(values)
  const alerts = usePages('listAlerts', { ...filter, limit: PAGE_SIZE })
  const rows = alerts.data?.pages.flatMap((page) => page.alerts) ?? []
  const chips = chipsOf(values, nameIn(rows), useZone())
  const mayOperate = useMay('operate')
  const scope = JSON.stringify(filter)
  const choice = useChoice(scope)
  const [asked, setAsked] = useState<Asked | null>(null)
  const chosen = rows.filter(({ id }) => choice.chosen.has(id))
  const onClear = (): void => clear()
  return (
    <Page
      title="Alerts"
      actions={
        mayOperate && rows.length > 0 && <MarkAll values={values} rows={rows} isMore={alerts.hasNextPage} />
      }
    >
      <FilterBar values={values} onChange={set} />
      <Chips
        chips={chips}
        // The id of a queue or cron goes with its kind.
        onRemove={(name) => set({ [name]: null, ...(name === 'resource_id' && { resource_kind: null }) })}
        onClear={onClear}
      />
      <Panel isFlush>
        <QueryStatus query={alerts} what="alerts" />
        {alerts.isSuccess && rows.length === 0 && (
          <NoAlerts isFiltered={chips.length > 0} isEnd={!alerts.hasNextPage} onClear={onClear} />
        )}
        {rows.length > 0 && (
          <Rows
            rows={rows}
            scope={`${scope} ${alerts.data?.pages.length ?? 0} ${alerts.isPlaceholderData}`}
            isBusy={alerts.isPlaceholderData}
            choice={choice}
            isHeld={chosen.length > 0}
            onDelete={(id) => setAsked({ meant: [id], count: 1 })}
          />
        )}
        <MorePages query={alerts} what="alerts" />
      </Panel>
      {chosen.length > 0 && (
        <Chosen
          rows={chosen}
          all={choice.isAll ? seenOf(filter, rows) : null}
          count={choice.isAll ? null : chosen.length}
          {...(!choice.isAll && alerts.hasNextPage && { onAll: choice.chooseAll })}
          onDelete={setAsked}
          onClear={choice.clear}
        />
      )}
      {asked !== null && <Removal {...asked} onDone={choice.clear} onClose={() => setAsked(null)} />}
    </Page>
  )
}

interface RowsProps {
  readonly rows: readonly Alert[]
  readonly scope: string
  readonly isBusy: boolean
  readonly choice: ReturnType<typeof useChoice>
  /** Whether some of them are chosen, and must not move. */
  readonly isHeld: boolean
  onDelete(id: number): void
}

function Rows({ rows, scope, isBusy, choice, isHeld, onDelete }: RowsProps) {
  const mayOperate = useMay('operate')
  return (
    <SteadyRows latest={rows} keyOf={({ id }) => id} scope={scope} isHeld={isHeld} what="alert">
      {(shown) => (
        <AlertTable
          alerts={shown}
          isBusy={isBusy}
          onDelete={onDelete}
          {...(mayOperate && { selection: { chosen: choice.chosen, onChange: choice.choose } })}
        />
      )}
    </SteadyRows>
  )
}

/** The names of the queues and crons that alerts are about, by their kind and id. */
function nameIn(rows: readonly Alert[]) {
  return (kind: string | undefined, id: string): string | undefined =>
    rows.find(({ resource }) => String(resource.id) === id && (kind ?? resource.kind) === resource.kind)
      ?.resource.name
}

/** Marks what the filters find. Without a filter it is known how many that are. */
function MarkAll({
  values,
  rows,
  isMore,
}: {
  readonly values: Values
  readonly rows: readonly Alert[]
  readonly isMore: boolean
}) {
  const filter = filterOf(values)
  const counts = useRead('countAlerts', {})
  const mark = useMarkRead()
  const isWhole = Object.keys(filter).length === 0
  const unread = isWhole ? counts.data?.unread : isMore ? undefined : unreadOf(rows).length
  return (
    <Button
      icon="check"
      isBusy={mark.isPending}
      disabled={unread === 0 && 'All of them are read.'}
      onClick={() => mark.mutate(seenOf(filter, rows))}
    >
      {unread === undefined ? 'Mark all that match as read' : `Mark ${alertsText(unread)} as read`}
    </Button>
  )
}

/** What can be done to the chosen alerts, or to all that match. */
function Chosen({
  rows,
  all,
  count,
  onAll,
  onDelete,
  onClear,
}: {
  readonly rows: readonly Alert[]
  /** null = only the chosen ones are meant. */
  readonly all: Exclude<Meant, readonly number[]> | null
  readonly count: number | null
  onAll?(): void
  onDelete(asked: Asked): void
  onClear(): void
}) {
  const mark = useMarkRead(onClear)
  const unread = unreadOf(rows)
  const what = count === null ? 'all that match' : alertsText(count)
  return (
    <ActionBar
      text={all === null ? `${what} chosen` : 'All alerts that match'}
      onClear={onClear}
      more={onAll !== undefined && <TextButton onClick={onAll}>Choose all that match</TextButton>}
    >
      <Button
        icon="check"
        isBusy={mark.isPending}
        disabled={all === null && unread.length === 0 && 'All of them are read.'}
        onClick={() => mark.mutate(all ?? unread)}
      >
        Mark {all === null ? alertsText(unread.length) : what} as read
      </Button>
      <Button icon="trash" onClick={() => onDelete({ meant: all ?? rows.map(({ id }) => id), count })}>
        Delete {what}
      </Button>
    </ActionBar>
  )
}

function NoAlerts({
  isFiltered,
  isEnd,
  onClear,
}: {
  readonly isFiltered: boolean
  readonly isEnd: boolean
  onClear(): void
}) {
  if (!isFiltered) {
    return (
      <Empty icon="check" title="No alerts">
        <p>
          Crons raise them when runs fail; a queue does so where its alerts are on. Each stays here for 30
          days, and goes to the channels of the team.
        </p>
      </Empty>
    )
  }
  return (
    <Empty icon="filter" title={isEnd ? 'No alert matches these filters' : 'None so far'}>
      <TextButton onClick={onClear}>Clear the filters</TextButton>
    </Empty>
  )
}
