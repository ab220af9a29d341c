import type { Alert } from '../../../../clients/typescript/src/client.ts'
import { useMay } from '../../session/me.ts'
import { at } from '../../routing/paths.ts'
import { formatCount } from '../../format/numbers.ts'
import { Menu, type MenuItem } from '../../ui/overlays/menu.tsx'
import { type Column, type Selection, Table } from '../../ui/tables/table.tsx'
import { Time } from '../../ui/text/time.tsx'
import { AlertBadge } from './alert-badge.tsx'
import { useMarkRead } from './alert-changes.ts'
import './alert-table.css'
import { headlineOf, jobsOf, subjectOf, toldText } from './alert-text.ts'
import { useMuteItems } from './mute.tsx'
import { Verbatim } from '../../ui/text/verbatim.tsx'

interface AlertsProps {
  readonly alerts: readonly Alert[]
  /** What is shown is of the filter before. */
  readonly isBusy: boolean
  readonly selection?: Selection<number>
  onDelete(id: number): void
}

export function AlertTable({ alerts, isBusy, selection, onDelete }: AlertsProps) {
  const itemsOf = useItems(onDelete)
  const columns: ReadonlyArray<Column<Alert>> = [
    { head: 'What', isWide: true, cell: (alert) => <What alert={alert} /> },
    { head: 'Type', isExtra: true, cell: ({ type }) => <AlertBadge type={type} /> },
    { head: 'Times', align: 'end', isExtra: true, cell: ({ count }) => formatCount(count) },
    { head: 'Notified', isExtra: true, cell: (alert) => <Told alert={alert} /> },
    { head: 'Last', align: 'end', cell: ({ last_at: last }) => <Time at={last} /> },
    {
      head: 'Actions',
      align: 'end',
      cell: (alert) => <Menu label="Actions" items={itemsOf(alert)} />,
    },
  ]
  return (
    <div class="alert-table" aria-busy={isBusy}>
      <Table
        caption="Alerts"
        rows={alerts}
        columns={columns}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => at(`/alerts/${id}`)}
        {...(selection !== undefined && { selection })}
      />
    </div>
  )
}

function What({ alert }: { readonly alert: Alert }) {
  const { type, read, resource, message } = alert
  return (
    <span class="alert-what" data-read={read}>
      <span>
        {!read && <span class="visually-hidden">Unread: </span>}
        {headlineOf(alert)} <span class="soft">· {<Verbatim text={subjectOf(resource)} />}</span>
      </span>
      <span class="soft" title={message}>
        <Verbatim text={message} />
      </span>
      {/* Where there is no room for its column. */}
      <span class="alert-narrow">
        <AlertBadge type={type} />
      </span>
    </span>
  )
}

function Told({ alert }: { readonly alert: Alert }) {
  const hasFailed = alert.deliveries.some(({ state }) => state === 'failed')
  return (
    <span class="alert-told" data-tone={hasFailed ? 'bad' : undefined} title={toldText(alert)}>
      {toldText(alert)}
    </span>
  )
}

/** What can be done about one alert. */
function useItems(onDelete: (id: number) => void): (alert: Alert) => MenuItem[] {
  const mayOperate = useMay('operate')
  const mark = useMarkRead()
  const muteItems = useMuteItems()
  return (alert) => {
    const { id, read, job_id: jobId, resource } = alert
    const jobs = jobsOf(alert)
    return [
      ...(jobs === null
        ? []
        : [{ label: jobs.label, icon: 'jobs' as const, href: at(jobs.path, jobs.query) }]),
      ...(jobId === null
        ? []
        : [{ label: 'The first job', icon: 'jobs' as const, href: at(`/jobs/${jobId}`) }]),
      ...(mayOperate
        ? [
            ...(read
              ? []
              : [{ label: 'Mark as read', icon: 'check' as const, run: () => mark.mutate([id]) }]),
            ...muteItems(resource),
            { label: 'Delete', icon: 'trash' as const, look: 'bad' as const, run: () => onDelete(id) },
          ]
        : []),
    ]
  }
}
