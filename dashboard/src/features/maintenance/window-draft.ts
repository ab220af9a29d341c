import type {
  MaintenanceWindow,
  WindowCreate,
  WindowEdit,
  WindowTimes,
} from '../../../../clients/typescript/src/client.ts'

export interface ScheduleDraft {
  readonly cron_expression: string
  readonly time_zone: string
  readonly minutes: string
}

/** A window as it is typed. */
export interface WindowDraft {
  readonly name: string
  /** Such as `queue/12`; empty = all of the team. */
  readonly resource: string
  readonly action: MaintenanceWindow['action']
  readonly reason: string
  readonly isOnce: boolean
  /** Times in the form of the API; empty = none. */
  readonly start: string
  readonly end: string
  readonly schedules: readonly ScheduleDraft[]
}

const MINUTE_MS = 60_000

/** A window of an hour that begins with this minute, since forms have no seconds. @param zone of its schedules, by its IANA name */
export function newDraft(nowMs: number, zone: string): WindowDraft {
  const startMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS
  const [start, end] = [startMs, startMs + 60 * MINUTE_MS].map((ms) => new Date(ms).toISOString()) as [
    string,
    string,
  ]
  const schedules = [newSchedule(zone)]
  return { name: '', resource: '', action: 'mute', reason: '', isOnce: true, start, end, schedules }
}

export function newSchedule(zone: string): ScheduleDraft {
  return { cron_expression: '0 1 * * SAT', time_zone: zone, minutes: '60' }
}

export function draftOf(window: MaintenanceWindow, fresh: WindowDraft): WindowDraft {
  const { name, resource, action, reason, start_at: start, end_at: end, recurring } = window
  return {
    name,
    action,
    reason: reason ?? '',
    isOnce: recurring === null,
    resource: resource === null ? '' : `${resource.kind}/${resource.id ?? ''}`,
    start: start ?? fresh.start,
    end: end ?? fresh.end,
    schedules:
      recurring?.map(({ duration_seconds: seconds, ...rest }) => ({ ...rest, minutes: `${seconds / 60}` })) ??
      fresh.schedules,
  }
}

export function timesOf({ isOnce, start, end, schedules }: WindowDraft): WindowTimes {
  if (isOnce) return { start_at: start || null, end_at: end || null }
  return {
    recurring: schedules.map(({ minutes, ...rest }) => ({
      ...rest,
      duration_seconds: Math.round(Number(minutes) * 60),
    })),
  }
}

export function creationOf(draft: WindowDraft): WindowCreate {
  const { name, action } = draft
  return { ...fieldsOf(draft), action, ...(name !== '' && { name }) }
}

/** Only what is different. */
export function editOf(before: WindowDraft, draft: WindowDraft): WindowEdit {
  const [was, is] = [fieldsOf(before), fieldsOf(draft)]
  const hasOther = JSON.stringify(timesOf(before)) !== JSON.stringify(timesOf(draft))
  return {
    ...(hasOther && timesOf(draft)),
    ...(before.resource !== draft.resource && { resource: is.resource ?? null }),
    ...(before.action !== draft.action && { action: draft.action }),
    ...(was.reason !== is.reason && { reason: is.reason ?? null }),
  }
}

function fieldsOf(draft: WindowDraft): Pick<WindowCreate, 'resource' | 'reason'> & WindowTimes {
  const [kind, id] = draft.resource.split('/')
  const reason = draft.reason.trim()
  return {
    ...timesOf(draft),
    resource: draft.resource === '' ? null : { kind: kind as 'queue' | 'cron', id: Number(id) },
    reason: reason === '' ? null : reason,
  }
}
