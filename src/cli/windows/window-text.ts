import type { MaintenanceWindow, WindowList } from '../../contract/generated/wire.ts'
import { columns, printable } from '../text-table.ts'

/** One line per window. */
export function windowTable(list: WindowList): string {
  const rows = list.windows.map((window) => [
    window.id,
    window.action,
    resourceText(window),
    stateText(window),
    window.reason ?? '',
  ])
  const more = list.next_cursor === null ? '' : `next page: --cursor ${list.next_cursor}\n`
  return printable(`${columns([['WINDOW', 'ACTION', 'RESOURCE', 'STATE', 'REASON'], ...rows])}\n${more}`)
}

export function windowPage(window: MaintenanceWindow): string {
  const { id, action, reason, start_at: start, end_at: end, recurring } = window
  const times =
    recurring === null
      ? [`once, ${start} to ${end}`]
      : recurring.map(
          (schedule) =>
            `at ${schedule.cron_expression} (${schedule.time_zone}), for ${schedule.duration_seconds} s`,
        )
  const lines = [`window ${id}  ${action}`, resourceText(window), ...times, stateText(window)]
  return printable(`${[...lines, ...(reason === null ? [] : [reason])].join('\n')}\n`)
}

function resourceText({ resource }: MaintenanceWindow): string {
  if (resource === null) return 'all of the team'
  const { kind, id, name } = resource
  return `${kind} ${name} (${id ?? 'does not exist'})`
}

function stateText({ active, ends_at: end, next_start_at: next }: MaintenanceWindow): string {
  if (active) return end === null ? 'active' : `active until ${end}`
  return next === null ? 'over' : `next at ${next}`
}
