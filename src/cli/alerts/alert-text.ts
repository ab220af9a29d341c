import type {
  Alert,
  AlertDelivery,
  AlertList,
  DeletedAlerts,
  UnreadAlerts,
  UpdatedAlerts,
} from '../../../clients/typescript/src/client.ts'
import { factView, itemView, listView } from '../output/view.ts'

/** One line per alert. */
export const ALERT_LIST = listView<AlertList, Alert>({
  kind: 'alert',
  items: (list) => list.alerts,
  id: (alert) => alert.id,
  columns: [
    { head: 'ALERT', cell: (alert) => String(alert.id) },
    { head: 'TYPE', cell: (alert) => alert.type },
    { head: 'REASON', cell: (alert) => alert.reason },
    { head: 'RESOURCE', cell: resourceText },
    { head: 'COUNT', cell: (alert) => String(alert.count) },
    { head: 'FIRST', cell: (alert) => alert.first_at, isWide: true },
    { head: 'LAST', cell: (alert) => alert.last_at },
    { head: 'STATE', cell: stateText },
    { head: 'JOB', cell: (alert) => String(alert.job_id ?? '-'), isWide: true },
    { head: 'MESSAGE', cell: (alert) => alert.message, isMain: true },
  ],
})

export const ALERT_PAGE = itemView<Alert>({ kind: 'alert', id: (alert) => alert.id, lines: alertLines })

export const UNREAD_ALERTS = factView<UnreadAlerts>(({ unread, by_type: byType }) => {
  const types = Object.entries(byType).filter(([, count]) => count > 0)
  const each = types.map(([type, count]) => `${type} ${count}`).join(', ')
  return [`${unread} unread${each === '' ? '' : `: ${each}`}`]
})

export const UPDATED_ALERTS = factView<UpdatedAlerts>(({ updated }) => [
  `${alertCount(updated)} marked as read`,
])

export const DELETED_ALERTS = factView<DeletedAlerts>(({ deleted }) => [`${alertCount(deleted)} deleted`])

function alertCount(count: number): string {
  return count === 1 ? '1 alert' : `${count} alerts`
}

function alertLines(alert: Alert): readonly string[] {
  const { job_id: jobId, count } = alert
  const times = count === 1 ? alert.first_at : `${count} times, ${alert.first_at} to ${alert.last_at}`
  return [
    `alert ${alert.id}  ${alert.type}: ${alert.reason}`,
    resourceText(alert),
    alert.message,
    times,
    stateText(alert),
    ...(jobId === null ? [] : [`job ${jobId}`]),
    ...alert.deliveries.map(deliveryText),
  ]
}

function resourceText({ resource: { kind, id, name } }: Alert): string {
  return id === null ? `${kind} ${name}` : `${kind} ${name} (${id})`
}

function stateText({ read, suppressed_by: window }: Alert): string {
  return `${read ? 'read' : 'unread'}${window === null ? '' : `, suppressed by ${window}`}`
}

function deliveryText({ channel, state, answer, at }: AlertDelivery): string {
  return `channel ${channel}: ${state}${at === null ? '' : ` at ${at}`}${answer === null ? '' : `, ${answer}`}`
}
