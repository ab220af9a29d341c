import type {
  MaintenanceWindow,
  WindowResource,
  WindowSchedule,
} from '../../../domain/windows/maintenance-window.ts'
import { WINDOW_ACTIONS } from '../../../domain/windows/maintenance-window.ts'

/**
 * Compiled windows in Redis: the hash `windows` by `["team","name"]`, in the form of the other compiled settings (see
 * stored-settings.ts); the text is the window as JSON, without team and name.
 */
export interface WindowKey {
  readonly team: string
  readonly name: string
}

export function windowField({ team, name }: WindowKey): string {
  return JSON.stringify([team, name])
}

export function windowKeyOf(field: string): WindowKey {
  const [team, name] = JSON.parse(field) as [string, string]
  return { team, name }
}

/** The same text for the same window: the fields have a fixed order. */
export function encodeWindow({ action, resource, times, reason }: MaintenanceWindow): string {
  return JSON.stringify({
    action,
    resource: resource === null ? null : { kind: resource.kind, name: resource.name },
    times:
      times.kind === 'once'
        ? { kind: times.kind, startMs: times.startMs, endMs: times.endMs }
        : {
            kind: times.kind,
            schedules: times.schedules.map(({ cronExpression, timeZone, durationSeconds }) => ({
              cronExpression,
              timeZone,
              durationSeconds,
            })),
          },
    reason,
  })
}

/** Fields of the hash that are windows. */
export function windowFieldsOf(fields: readonly string[]): string[] {
  return fields.filter((field) => field.startsWith('['))
}

/** Reads a window; the field is its team and name. Throws when the entry cannot be read. */
export function decodeWindow(field: string, value: string): MaintenanceWindow {
  const stored = JSON.parse(value.slice(value.indexOf(' ') + 1)) as Omit<MaintenanceWindow, 'team' | 'name'>
  if (!WINDOW_ACTIONS.includes(stored.action) || !isResource(stored.resource) || !areTimes(stored.times)) {
    throw new SyntaxError('not a maintenance window')
  }
  return { ...windowKeyOf(field), ...stored }
}

function isResource(resource: WindowResource | null | undefined): boolean {
  return resource === null || typeof resource?.name === 'string'
}

function areTimes(times: MaintenanceWindow['times'] | undefined): boolean {
  return times?.kind === 'once'
    ? isTime(times.startMs) && isTime(times.endMs)
    : Array.isArray(times?.schedules) && times.schedules.every(isSchedule)
}

function isTime(unixMs: unknown): boolean {
  return typeof unixMs === 'number' && !Number.isNaN(new Date(unixMs).getTime())
}

/** Whether it can be read at all; one of no expression or no zone opens nothing. */
function isSchedule(schedule: WindowSchedule | null): boolean {
  return (
    typeof schedule?.cronExpression === 'string' &&
    typeof schedule.timeZone === 'string' &&
    typeof schedule.durationSeconds === 'number'
  )
}
