import type { MaintenanceWindow, WindowList } from '../../../clients/typescript/src/client.ts'
import { shortTime } from '../output/text-table.ts'
import { itemView, listView } from '../output/view.ts'

/** One line per window. */
export const WINDOW_LIST = listView<WindowList, MaintenanceWindow>({
  kind: 'window',
  items: (list) => list.windows,
  id: (window) => window.id,
  columns: [
    { head: 'WINDOW', cell: (window) => window.id, isMain: true },
    { head: 'ACTION', cell: (window) => window.action },
    { head: 'RESOURCE', cell: resourceText },
    { head: 'STATE', cell: stateText },
    { head: 'REASON', cell: (window) => window.reason ?? '' },
  ],
})

export const WINDOW_PAGE = itemView<MaintenanceWindow>({
  kind: 'window',
  id: (window) => window.id,
  lines: windowLines,
})

function windowLines(window: MaintenanceWindow): readonly string[] {
  const { id, action, reason, problem, start_at: start, end_at: end, recurring } = window
  const times =
    recurring === null
      ? [`once, ${start} to ${end}`]
      : recurring.map(
          (schedule) =>
            `at ${schedule.cron_expression} (${schedule.time_zone}), for ${schedule.duration_seconds} s`,
        )
  const lines = [`window ${id}  ${action}`, resourceText(window), ...times, stateText(window)]
  const found = problem === null ? [] : [`problem: ${problem}`]
  return [...lines, ...(reason === null ? [] : [reason]), ...found]
}

function resourceText({ resource }: MaintenanceWindow): string {
  if (resource === null) return 'all of the team'
  const { kind, id, name } = resource
  return `${kind} ${name} (${id ?? 'does not exist'})`
}

function stateText({ active, ends_at: end, next_start_at: next, problem }: MaintenanceWindow): string {
  if (!active && next === null && problem !== null) return 'never opens'
  if (active) return end === null ? 'active' : `active until ${shortTime(end)}`
  return next === null ? 'over' : `next at ${shortTime(next)}`
}
