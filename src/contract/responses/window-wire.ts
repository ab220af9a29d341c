import type { MaintenanceWindow, WindowResource } from '../../domain/windows/maintenance-window.ts'
import { WindowOpenings } from '../../domain/windows/window-openings.ts'
import { timestampOrNull } from '../../domain/timestamp.ts'
import type { MaintenanceWindow as WireWindow } from '../generated/wire.ts'

/** A queue or cron as it is now. */
export interface ShownResource {
  readonly kind: WindowResource['kind']
  /** null = it does not exist. */
  readonly id: number | null
  readonly name: string
}

/** @param nowMs the time at which it is active or not */
export function toWireWindow(
  { name, action, times, reason }: MaintenanceWindow,
  resource: ShownResource | null,
  nowMs: number,
): WireWindow {
  const { isOpen, sinceMs, endMs, nextStartMs } = new WindowOpenings(times).at(nowMs)
  return {
    id: name,
    name,
    resource: resource === null ? null : { ...resource },
    start_at: timestampOrNull(times.kind === 'once' ? times.startMs : null),
    end_at: timestampOrNull(times.kind === 'once' ? times.endMs : null),
    recurring:
      times.kind === 'once'
        ? null
        : times.schedules.map(({ cronExpression, timeZone, durationSeconds }) => ({
            ...{ cron_expression: cronExpression, time_zone: timeZone },
            duration_seconds: durationSeconds,
          })),
    action,
    reason,
    active: isOpen,
    active_since: timestampOrNull(sinceMs),
    ends_at: timestampOrNull(endMs),
    next_start_at: timestampOrNull(nextStartMs),
  }
}
