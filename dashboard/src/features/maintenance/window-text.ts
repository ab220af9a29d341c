import type { MaintenanceWindow } from '../../../../clients/typescript/src/client.ts'
import { entryOf } from '../../format/values/known-values.ts'
import { formatDayTime } from '../../format/clock-changes.ts'
import { formatSeconds, formatStamp } from '../../format/times.ts'

/** What a window is for, such as `queue emails`; null = all of the team. */
export function subjectOf({ resource }: Pick<MaintenanceWindow, 'resource'>): string | null {
  return resource === null ? null : `${resource.kind} ${resource.name}`
}

/** What a window does while it is active. */
export function effectText(window: Pick<MaintenanceWindow, 'action' | 'resource'>): string {
  const subject = subjectOf(window)
  const effects = {
    mute: subject === null ? 'All alerts are muted' : `Alerts of ${subject} are muted`,
    hold:
      subject === null
        ? 'No job starts, and all alerts are muted'
        : `Jobs of ${subject} are held, and its alerts are muted`,
  }
  return entryOf(effects, window.action, (name) => `${name}: ${subject ?? 'the whole team'}`)
}

/** Such as `14:05` on the day of `nowMs`, and `Sat 11-28 14:05` on others. */
export function clockText(atMs: number, nowMs: number, zone: string): string {
  const [at, now] = [formatStamp(atMs, zone), formatStamp(nowMs, zone)]
  return at.slice(0, 10) === now.slice(0, 10) ? at.slice(11, 16) : formatDayTime(atMs, nowMs, zone)
}

/** When a window is open, by what was set. */
export function timesText(
  { start_at: start, end_at: end, recurring }: Pick<MaintenanceWindow, 'start_at' | 'end_at' | 'recurring'>,
  zone: string,
): string {
  if (recurring !== null) {
    return recurring
      .map(
        ({ cron_expression: expression, time_zone: own, duration_seconds: seconds }) =>
          `${expression} ${own}, for ${formatSeconds(seconds)}`,
      )
      .join('; ')
  }
  const [from = '', to = ''] = [start, end].map((at) => formatStamp(Date.parse(at ?? ''), zone).slice(0, 16))
  return `${from} – ${from.slice(0, 10) === to.slice(0, 10) ? to.slice(11) : to}`
}
