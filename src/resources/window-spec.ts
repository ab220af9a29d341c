import type {
  WindowAction,
  WindowResource,
  WindowSchedule,
  WindowSettings,
  WindowTimes,
} from '../domain/windows/maintenance-window.ts'
import { scheduleProblemsOf } from './cron-spec.ts'
import type { MaintenanceWindowSpec } from './generated/kinds.ts'
import { changedSettings } from './manifests/manifest-text.ts'
import type { FieldProblem } from './schema/field-path.ts'

const ACTIONS = { Mute: 'mute', Hold: 'hold' } as const
const KINDS = { HttpQueue: 'queue', HttpCron: 'cron' } as const

/** The settings of a checked spec. */
export function settingsOfWindowSpec(spec: MaintenanceWindowSpec): WindowSettings {
  const { action, resource, reason } = spec
  return Object.freeze({
    action: ACTIONS[action],
    resource: resource === undefined ? null : { kind: KINDS[resource.kind], name: resource.name },
    times: timesOf(spec),
    reason: reason ?? null,
  })
}

function timesOf({ start = '', end = '', recurring }: MaintenanceWindowSpec): WindowTimes {
  if (recurring === undefined) return { kind: 'once', startMs: Date.parse(start), endMs: Date.parse(end) }
  const schedules = recurring.map(({ cronExpression, timeZone, durationSeconds }): WindowSchedule => {
    return { cronExpression, timeZone, durationSeconds }
  })
  return { kind: 'recurring', schedules }
}

/** A spec to be written. null removes a field, as in a JSON merge patch. */
export type WindowSpecChange = {
  readonly [Field in keyof MaintenanceWindowSpec]?: MaintenanceWindowSpec[Field] | null
}

/** Makes every field of the spec of the given settings. */
export function specOfWindowSettings({ action, resource, times, reason }: WindowSettings): WindowSpecChange {
  const isOnce = times.kind === 'once'
  return {
    action: specOfAction(action),
    resource: resource === null ? null : { kind: specOfKind(resource.kind), name: resource.name },
    start: isOnce ? timeText(times.startMs) : null,
    end: isOnce ? timeText(times.endMs) : null,
    recurring: isOnce ? null : times.schedules,
    reason,
  }
}

/** Makes the fields of the spec that an edit changes. */
export function changedWindowSpec(former: WindowSettings, settings: WindowSettings): WindowSpecChange {
  return changedSettings<WindowSpecChange>(specOfWindowSettings(settings), specOfWindowSettings(former))
}

function specOfAction(action: WindowAction): MaintenanceWindowSpec['action'] {
  return action === 'hold' ? 'Hold' : 'Mute'
}

function specOfKind(kind: WindowResource['kind']): keyof typeof KINDS {
  return kind === 'queue' ? 'HttpQueue' : 'HttpCron'
}

/** Writes RFC 3339 as people do, in whole seconds without a fraction. */
function timeText(unixMs: number): string {
  return new Date(unixMs).toISOString().replace('.000Z', 'Z')
}

/** Checks what CRD rules cannot express, with the texts of the API. */
export function windowProblemsOf({ recurring = [] }: MaintenanceWindowSpec): readonly FieldProblem[] {
  return recurring.flatMap((schedule, index) => scheduleProblemsOf(schedule, ['spec', 'recurring', index]))
}
