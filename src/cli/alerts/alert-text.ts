import type { Alert, AlertDelivery, AlertList } from '../../contract/generated/wire.ts'
import { columns, printable } from '../text-table.ts'

/** One line per alert. */
export function alertTable(list: AlertList): string {
  const rows = list.alerts.map((alert) => [
    String(alert.id),
    alert.type,
    alert.reason,
    resourceText(alert),
    String(alert.count),
    alert.last_at,
    stateText(alert),
    alert.message,
  ])
  const head = ['ALERT', 'TYPE', 'REASON', 'RESOURCE', 'COUNT', 'LAST', 'STATE', 'MESSAGE']
  const more = list.next_cursor === null ? '' : `next page: --cursor ${list.next_cursor}\n`
  return printable(`${columns([head, ...rows])}\n${more}`)
}

export function alertPage(alert: Alert): string {
  const { job_id: jobId, count } = alert
  const times = count === 1 ? alert.first_at : `${count} times, ${alert.first_at} to ${alert.last_at}`
  const lines = [
    `alert ${alert.id}  ${alert.type}: ${alert.reason}`,
    resourceText(alert),
    alert.message,
    times,
    stateText(alert),
    ...(jobId === null ? [] : [`job ${jobId}`]),
    ...alert.deliveries.map(deliveryText),
  ]
  return printable(`${lines.join('\n')}\n`)
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
