import { describeExpression } from '../../domain/crons/cron-description.ts'
import type {
  MaintenanceWindow,
  WindowResource,
  WindowTimes,
} from '../../domain/windows/maintenance-window.ts'
import type { OpeningList } from '../../domain/windows/openings-between.ts'
import {
  type ScheduleProblem,
  WindowOpenings,
  type WindowState,
} from '../../domain/windows/window-openings.ts'
import { formatTimestamp, timestampOrNull } from '../../domain/timestamp.ts'
import type {
  MaintenanceWindow as WireWindow,
  WindowCalendar,
  WindowPreview,
} from '../../../clients/typescript/src/generated/wire.ts'

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
  const { isOpen, sinceMs, endMs, nextStartMs, problem } = stateOf(times, nowMs)
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
            cron_expression: cronExpression,
            time_zone: timeZone,
            duration_seconds: durationSeconds,
          })),
    action,
    reason,
    active: isOpen,
    active_since: timestampOrNull(sinceMs),
    ends_at: timestampOrNull(endMs),
    next_start_at: timestampOrNull(nextStartMs),
    problem,
  }
}

interface ShownState extends Pick<WindowState, 'isOpen' | 'sinceMs' | 'endMs' | 'nextStartMs'> {
  readonly problem: string | null
}

/** A window that is stored must be listed and deleted whatever it says, and its neighbours too. */
function stateOf(times: WindowTimes, nowMs: number): ShownState {
  try {
    const openings = new WindowOpenings(times)
    return {
      ...openings.at(nowMs),
      problem: openings.problem === null ? null : problemText(openings.problem),
    }
  } catch {
    const closed = { isOpen: false, sinceMs: null, endMs: null, nextStartMs: null }
    return { ...closed, problem: 'The openings cannot be computed.' }
  }
}

function problemText({ index, field, problem }: ScheduleProblem): string {
  return `recurring.${index}.${field === 'timeZone' ? 'time_zone' : 'cron_expression'} ${problem}`
}

/** A window of the calendar, by its name. */
export interface ListedWindow extends OpeningList {
  readonly name: string
}

export function toWindowCalendar(windows: readonly ListedWindow[]): WindowCalendar {
  const all = windows.flatMap(({ name, openings }) => openings.map((opening) => ({ name, ...opening })))
  return {
    openings: all
      .toSorted((a, b) => a.startMs - b.startMs || (a.name < b.name ? -1 : 1))
      .map(({ name, startMs, endMs }) => ({
        window_id: name,
        start_at: formatTimestamp(startMs),
        end_at: formatTimestamp(endMs),
      })),
    cut: windows.filter(({ cutMs }) => cutMs !== null).map(({ name }) => name),
  }
}

/** @param count of the openings shown, at most */
export function toWindowPreview(times: WindowTimes, list: OpeningList, count: number): WindowPreview {
  return {
    descriptions:
      times.kind === 'once'
        ? []
        : times.schedules.map(({ cronExpression }) => describeExpression(cronExpression)),
    openings: list.openings.slice(0, count).map(({ startMs, endMs }) => ({
      start_at: formatTimestamp(startMs),
      end_at: endMs === list.cutMs ? null : formatTimestamp(endMs),
    })),
  }
}
