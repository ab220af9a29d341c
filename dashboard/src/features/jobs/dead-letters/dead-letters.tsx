import { useState } from 'preact/hooks'
import type { DeadLetterGroup } from '../../../../../clients/typescript/src/client.ts'
import { useMayBulk } from '../../../session/me.ts'
import { usePages } from '../../../api/reads.ts'
import { at } from '../../../routing/paths.ts'
import { useUrlQuery } from '../../../routing/url-query.ts'
import { chipsOf, filterOf, type FilterValues } from '../job-filter.ts'
import { formatCount, plural } from '../../../format/numbers.ts'
import { Button, LinkButton, TextButton } from '../../../ui/button.tsx'
import { Chips } from '../../../ui/tables/chips.tsx'
import { Empty, QueryStatus } from '../../../ui/page/empty.tsx'
import { MorePages } from '../../../ui/tables/more-pages.tsx'
import { Figure, Page, Panel } from '../../../ui/page/page.tsx'
import { SteadyRows } from '../../../ui/tables/steady-rows.tsx'
import { Time, useZone } from '../../../ui/text/time.tsx'
import { BulkDialog } from '../bulk/bulk-dialog.tsx'
import { GroupTable } from './group-table.tsx'
import { RunningReplays } from './running-replays.tsx'
import { type Asked, countOf, earliest, groupKey, mergeGroups } from './groups.ts'

/** The filters that groups can be asked for under. */
const FILTERS = [
  'queue',
  'failure_reason',
  'response_status',
  'host',
  'tag',
  'cron_id',
  'ended_after',
  'ended_before',
] as const
/** A larger number is not read again by itself, since each read scans all dead letters. */
const LIVE_MAX = 2_000

/** Dead letters by what they have in common: an outage is a row or two. */
export function DeadLetters() {
  const { values, set, clear } = useUrlQuery()
  const filter = filterOfUrl(values)
  const [isLive, setIsLive] = useState(true)
  const [asked, setAsked] = useState<Asked | null>(null)
  const groups = usePages('listDeadLetterGroups', filterOf(filter), { isLive })
  const pages = groups.data?.pages ?? []
  const searched = pages.reduce((sum, page) => sum + page.searched, 0)
  if (isLive !== searched <= LIVE_MAX) setIsLive(searched <= LIVE_MAX)
  const all = mergeGroups(pages.flatMap((page) => page.groups))
  const chips = chipsOf(filter, useZone())
  const whole = { ...filter, status: 'dead_lettered' }
  return (
    <Page
      title="Dead letters"
      actions={
        <>
          <LinkButton icon="jobs" href={at('/jobs', whole)}>
            As a list of jobs
          </LinkButton>
          <ReplayAll
            groups={all}
            isMore={groups.hasNextPage}
            onAsk={() => setAsked({ action: 'replay', values: whole })}
          />
        </>
      }
    >
      <Chips chips={chips} onRemove={(name) => set({ [name]: null })} onClear={() => clear()} />
      <RunningReplays />
      {all.length > 0 && <Summary groups={all} isMore={groups.hasNextPage} />}
      <Panel isFlush>
        <QueryStatus query={groups} what="dead letters" />
        {groups.isSuccess && all.length === 0 && (
          <NoDeadLetters isFiltered={chips.length > 0} isEnd={!groups.hasNextPage} onClear={() => clear()} />
        )}
        {all.length > 0 && (
          <SteadyRows
            latest={all}
            keyOf={groupKey}
            scope={JSON.stringify([filter, pages.length, groups.isPlaceholderData])}
            what="group"
          >
            {(rows) => <GroupTable groups={rows} within={filter} onAsk={setAsked} />}
          </SteadyRows>
        )}
        <MorePages query={groups} what="dead letters" />
      </Panel>
      {asked !== null && (
        <BulkDialog
          action={asked.action}
          target={{ kind: 'filter', values: asked.values }}
          isSinceAsked={filter['ended_after'] === undefined}
          onClose={() => setAsked(null)}
        />
      )}
    </Page>
  )
}

function ReplayAll({
  groups,
  isMore,
  onAsk,
}: {
  readonly groups: readonly DeadLetterGroup[]
  readonly isMore: boolean
  onAsk(): void
}) {
  const mayBulk = useMayBulk()
  if (!mayBulk || groups.length < 2) return null
  return (
    <Button icon="retry" onClick={onAsk}>
      Replay {isMore ? 'more than ' : 'all '}
      {plural(countOf(groups), 'job')}
    </Button>
  )
}

function filterOfUrl(values: FilterValues): FilterValues {
  return Object.fromEntries(
    FILTERS.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])),
  )
}

function Summary({
  groups,
  isMore,
}: {
  readonly groups: readonly DeadLetterGroup[]
  readonly isMore: boolean
}) {
  const count = countOf(groups)
  const queues = new Set(groups.map(({ queue_id: id }) => id)).size
  const hosts = new Set(groups.map(({ host }) => host)).size
  return (
    <div class="figures">
      <Figure name="Dead letters" note={isMore ? 'Of those looked at so far' : undefined}>
        {isMore ? `${formatCount(count)}+` : formatCount(count)}
      </Figure>
      <Figure name="Kinds of failure" note={`${plural(queues, 'queue')}, ${plural(hosts, 'host')}`}>
        {formatCount(groups.length)}
      </Figure>
      <Figure name="First failed">
        <Time at={earliest(groups.map(({ first_ended_at: first }) => first))} />
      </Figure>
      <Figure name="Next to expire" note="By its queue’s retention">
        <Time at={earliest(groups.map(({ next_purge_at: next }) => next))} />
      </Figure>
    </div>
  )
}

function NoDeadLetters({
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
      <Empty icon="check" title="No dead letters">
        <p>
          A job whose last attempt failed comes here, where its queue has dead letters on, and can be
          replayed.
        </p>
      </Empty>
    )
  }
  return (
    <Empty icon="filter" title={isEnd ? 'No dead letter matches these filters' : 'None so far'}>
      {isFiltered && <TextButton onClick={onClear}>Clear the filters</TextButton>}
    </Empty>
  )
}
