import {
  WINDOW_ACTIONS,
  WINDOW_DAYS_MAX,
  WINDOW_REASON_CHARACTERS_MAX,
  WINDOW_SCHEDULES_MAX,
  WINDOW_SECONDS_MAX,
  WINDOW_SECONDS_MIN,
  type WindowResource,
  type WindowSchedule,
  type WindowSettings,
  type WindowTimes,
} from '../../../domain/windows/maintenance-window.ts'
import { type FieldReader, isJsonObject, MappedFields } from '../../fields/field-reader.ts'
import { type BodyResult, type JsonFields, readJsonBody, type RequestBody } from '../../fields/json-body.ts'
import { refuseUnknownFields } from '../../fields/unknown-fields.ts'
import {
  mustBeArray,
  mustBeObject,
  mustBeTimestamp,
  mustHaveItemsBetween,
  prohibits,
  refusedAs,
  required,
  requiredWithout,
} from '../../fields/validation-texts.ts'
import { readExpression, readTimeZone } from '../cron-request.ts'
import { parseTimestamp } from '../run-at.ts'

/** The fields of `PATCH /api/maintenance-windows/{id}`, in the order errors are reported. */
export const WINDOW_EDIT_FIELDS = ['resource', 'start_at', 'end_at', 'recurring', 'action', 'reason'] as const
/** The fields of `POST /api/maintenance-windows`, in the order errors are reported. */
export const WINDOW_FIELDS = ['name', ...WINDOW_EDIT_FIELDS] as const
const RESOURCE_FIELDS: ReadonlySet<string> = new Set(['kind', 'id'])
const SCHEDULE_FIELDS: ReadonlySet<string> = new Set(['cron_expression', 'time_zone', 'duration_seconds'])
const RESOURCE_KINDS: ReadonlyArray<WindowResource['kind']> = ['queue', 'cron']

/** A name that people choose; more than a DNS label has no place in a command. */
export const WINDOW_NAME_CHARACTERS_MAX = 63
const NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/
const TIME_CHARACTERS_MAX = 64
const DAY_MS = 86_400_000
/** The year 9999: what comes after has more digits. */
const TIME_MAX_MS = Date.UTC(9999, 11, 31)

/** A queue or cron as the API names it. */
export interface GivenResource {
  readonly kind: WindowResource['kind']
  readonly id: number
}

export interface GivenWindow {
  /** null = not given. */
  readonly name: string | null
  /** null = all of the team; undefined = not given. */
  readonly resource: GivenResource | null | undefined
  readonly settings: Omit<WindowSettings, 'resource'>
}

/** Stands in after a reported mistake; it is never used. */
const NO_TIMES: WindowTimes = { kind: 'recurring', schedules: [] }

/** Checks the body of `POST /api/maintenance-windows`. Never throws. */
export function readNewWindow(body: RequestBody): BodyResult<GivenWindow> {
  return readJsonBody(body, new Set(WINDOW_FIELDS), (fields) => ({
    name: readName(fields),
    ...readSettings(fields, null),
  }))
}

/**
 * Checks the body of `PATCH /api/maintenance-windows/{id}`. Fields that are not given stay as in `current`; null removes
 * the resource and the reason, and counts as absent elsewhere. Never throws.
 */
export function readWindowEdit(body: RequestBody, current: WindowSettings): BodyResult<GivenWindow> {
  return readJsonBody(body, new Set(WINDOW_EDIT_FIELDS), (fields) => ({
    name: null,
    ...readSettings(fields, current),
  }))
}

/** Reads the fields in the contract's order, which is the order of the errors. */
function readSettings(
  fields: JsonFields,
  current: WindowSettings | null,
): Pick<GivenWindow, 'resource' | 'settings'> {
  const resource = readResource(fields)
  const times = readTimes(fields, current?.times ?? null)
  const action = fields.choice('action', WINDOW_ACTIONS) ?? current?.action ?? 'mute'
  const reason = fields.text('reason', WINDOW_REASON_CHARACTERS_MAX)
  const isKept = reason === null && !fields.has('reason')
  return { resource, settings: { times, action, reason: isKept ? (current?.reason ?? null) : reason } }
}

function readName(fields: FieldReader): string | null {
  const name = fields.text('name', WINDOW_NAME_CHARACTERS_MAX)
  if (name === null || NAME.test(name)) return name
  return fields.refuse('name', (path) =>
    refusedAs(path, 'must consist of lower-case letters, digits and -, and must not begin or end with -.'),
  )
}

function readResource(fields: JsonFields): GivenResource | null | undefined {
  const value = fields.value('resource')
  if (value === undefined) return fields.has('resource') ? null : undefined
  if (!isJsonObject(value)) return fields.refuse('resource', mustBeObject)
  const item = new MappedFields(fields.errors, (field) => value[field] ?? undefined, 'resource.')
  const kind = item.choice('kind', RESOURCE_KINDS)
  if (item.value('kind') === undefined) item.refuse('kind', required)
  const id = item.integer('id', 0, Number.MAX_SAFE_INTEGER)
  if (item.value('id') === undefined) item.refuse('id', required)
  refuseUnknownFields(fields.errors, {
    names: Object.keys(value),
    known: RESOURCE_FIELDS,
    prefix: 'resource.',
  })
  return kind === null || id === null ? null : { kind, id }
}

/** @param current what is kept of what is not given; null = a new window */
export function readTimes(fields: JsonFields, current: WindowTimes | null): WindowTimes {
  const isOnce = fields.value('start_at') !== undefined || fields.value('end_at') !== undefined
  if (fields.value('recurring') === undefined) {
    const isKept = !isOnce && current !== null && !(current.kind === 'recurring' && fields.has('recurring'))
    return isKept ? current : readOnce(fields, current)
  }
  if (isOnce) fields.refuse('recurring', (path) => prohibits(path, 'start_at'))
  const schedules = readSchedules(fields)
  return schedules === null ? NO_TIMES : { kind: 'recurring', schedules }
}

function readOnce(fields: FieldReader, current: WindowTimes | null): WindowTimes {
  const former = current?.kind === 'once' ? current : null
  const startMs = readTime(fields, 'start_at', former?.startMs)
  const endMs = readTime(fields, 'end_at', former?.endMs)
  if (startMs === null || endMs === null) return NO_TIMES
  const problem =
    endMs <= startMs
      ? 'must be after start at.'
      : endMs - startMs > WINDOW_DAYS_MAX * DAY_MS
        ? `must not be more than ${WINDOW_DAYS_MAX} days after start at.`
        : null
  if (problem !== null) fields.refuse('end_at', (path) => refusedAs(path, problem))
  return { kind: 'once', startMs, endMs }
}

function readTime(fields: FieldReader, field: string, formerMs: number | undefined): number | null {
  const text = fields.text(field, TIME_CHARACTERS_MAX)
  if (text === null) {
    if (fields.value(field) !== undefined) return null
    return formerMs ?? fields.refuse(field, (path) => requiredWithout(path, ['recurring']))
  }
  const unixMs = parseTimestamp(text)
  const isValid = unixMs !== null && unixMs >= 0 && unixMs <= TIME_MAX_MS
  return isValid ? unixMs : fields.refuse(field, mustBeTimestamp)
}

function readSchedules(fields: FieldReader): readonly WindowSchedule[] | null {
  const field = 'recurring'
  const value = fields.value(field)
  if (!Array.isArray(value)) return fields.refuse(field, mustBeArray)
  if (value.length === 0 || value.length > WINDOW_SCHEDULES_MAX) {
    return fields.refuse(field, (path) => mustHaveItemsBetween(path, 1, WINDOW_SCHEDULES_MAX))
  }
  const items: readonly unknown[] = value
  return items.flatMap((item, index) => readSchedule(fields, `${field}.${index}`, item) ?? [])
}

function readSchedule(fields: FieldReader, path: string, item: unknown): WindowSchedule | null {
  if (!isJsonObject(item)) return fields.refuse(path, mustBeObject)
  const prefix = `${path}.`
  const schedule = new MappedFields(fields.errors, (field) => item[field] ?? undefined, prefix)
  const cronExpression = readExpression(schedule)
  const timeZone = readTimeZone(schedule) ?? 'UTC'
  const durationSeconds = schedule.integer('duration_seconds', WINDOW_SECONDS_MIN, WINDOW_SECONDS_MAX)
  if (schedule.value('duration_seconds') === undefined) schedule.refuse('duration_seconds', required)
  refuseUnknownFields(fields.errors, { names: Object.keys(item), known: SCHEDULE_FIELDS, prefix })
  return cronExpression === null || durationSeconds === null
    ? null
    : { cronExpression, timeZone, durationSeconds }
}
