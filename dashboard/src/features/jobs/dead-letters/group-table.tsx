import type { DeadLetterGroup } from '../../../../../clients/typescript/src/client.ts'
import { useMay, useMayBulk } from '../../../session/me.ts'
import { at } from '../../../routing/paths.ts'
import { failureText, isMessageNews } from '../../../format/failure-reasons.ts'
import type { FilterValues } from '../job-filter.ts'
import { formatCount, plural } from '../../../format/numbers.ts'
import { Button } from '../../../ui/button.tsx'
import { Menu, type MenuItem } from '../../../ui/overlays/menu.tsx'
import { type Column, Table } from '../../../ui/tables/table.tsx'
import { Time } from '../../../ui/text/time.tsx'
import './group-table.css'
import { type Asked, filterOfGroup, groupKey } from './groups.ts'
import { Verbatim } from '../../../ui/text/verbatim.tsx'

interface GroupsProps {
  readonly groups: readonly DeadLetterGroup[]
  /** The filter that they were asked for under. */
  readonly within: FilterValues
  onAsk(asked: Asked): void
}

export function GroupTable({ groups, within, onAsk }: GroupsProps) {
  const columns: ReadonlyArray<Column<DeadLetterGroup>> = [
    { head: 'Host', cell: ({ host }) => <Host host={host} /> },
    { head: 'Failure', isWide: true, cell: (group) => <Failure group={group} /> },
    { head: 'Queue', isExtra: true, cell: ({ queue }) => <Queue name={queue} /> },
    {
      head: 'First',
      align: 'end',
      isExtra: true,
      isSpare: true,
      cell: ({ first_ended_at: first }) => <Time at={first} />,
    },
    { head: 'Last', align: 'end', isExtra: true, cell: ({ last_ended_at: last }) => <Time at={last} /> },
    {
      head: 'Expires',
      align: 'end',
      isExtra: true,
      cell: ({ next_purge_at: next }) => <Time at={next} />,
    },
    {
      head: 'Jobs',
      align: 'end',
      isExtra: true,
      cell: ({ count }) => formatCount(count),
    },
    {
      head: 'Actions',
      align: 'end',
      cell: (group) => <Actions group={group} within={within} onAsk={onAsk} />,
    },
  ]
  return (
    <div class="group-table">
      <Table
        caption="Dead letters by failure"
        rows={groups}
        columns={columns}
        keyOf={groupKey}
        hrefOf={(group) => at('/jobs', filterOfGroup(group, within) ?? { status: 'dead_lettered' })}
      />
    </div>
  )
}

/** The first that one asks of an outage: which target it is. */
function Host({ host }: { readonly host: string | null }) {
  if (host === null) return <span class="soft">No host</span>
  return (
    <span class="group-host mono">
      <Verbatim text={host} title={host} />
    </span>
  )
}

function Queue({ name }: { readonly name: string | null }) {
  return <span class="group-name">{name === null ? 'none' : <Verbatim text={name} title={name} />}</span>
}

function Failure({ group }: { readonly group: DeadLetterGroup }) {
  const { failure_reason: reason, response_status: status, error_message: message } = group
  return (
    <span class="group-failure">
      <span>{failureText(reason, status)}</span>
      {message !== null && isMessageNews(reason) && (
        <span class="soft">
          <Verbatim text={message} title={message} />
        </span>
      )}
    </span>
  )
}

function Actions({
  group,
  within,
  onAsk,
}: Pick<GroupsProps, 'within' | 'onAsk'> & { readonly group: DeadLetterGroup }) {
  const mayBulk = useMayBulk()
  const mayPurge = useMay('purge')
  const values = filterOfGroup(group, within)
  const { host, queue, newest_job_id: newest } = group
  const looks: MenuItem[] = [
    { label: 'Newest of them', icon: 'jobs', href: at(`/jobs/${newest}`) },
    ...(host === null ? [] : [narrowed(`Only host ${host}`, { ...within, host })]),
    ...(queue === null ? [] : [narrowed(`Only queue ${queue}`, { ...within, queue })]),
  ]
  return (
    <span class="group-actions">
      {mayBulk && values !== null && (
        <Button icon="retry" onClick={() => onAsk({ action: 'replay', values })}>
          Replay {plural(group.count, 'job')}
        </Button>
      )}
      <Menu
        label="More"
        items={
          values === null || !mayBulk
            ? looks
            : [
                ...looks,
                {
                  label: `Purge ${plural(group.count, 'job')}`,
                  icon: 'trash',
                  look: 'bad',
                  disabled: !mayPurge && 'Your role may not purge.',
                  run: () => onAsk({ action: 'purge', values }),
                },
              ]
        }
      />
    </span>
  )
}

function narrowed(label: string, values: FilterValues): MenuItem {
  return { label, icon: 'filter', href: at('/dead-letters', values) }
}
