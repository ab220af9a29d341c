import { WINDOW_CALENDAR_DAYS_MAX, type WindowTimes } from '../../../domain/windows/maintenance-window.ts'
import { type BodyResult, readJsonBody, type RequestBody } from '../../fields/json-body.ts'
import { refusedAs, required } from '../../fields/validation-texts.ts'
import { type QueryResult, readQuery, readTime } from '../list-query.ts'
import { readTimes } from './window-request.ts'

const PARAMETERS: ReadonlySet<string> = new Set(['after', 'before'])
const FIELDS: ReadonlySet<string> = new Set(['start_at', 'end_at', 'recurring'])
const DAY_MS = 86_400_000

export interface CalendarSpan {
  readonly fromMs: number
  readonly untilMs: number
}

/** The query of `GET /api/window-openings`. */
export function readOpeningsQuery(search: string, nowMs: number): QueryResult<CalendarSpan> {
  return readQuery(search, { known: PARAMETERS, nowMs }, (query) => {
    const fromMs = readTime(query, 'after')
    if (query.value('after') === undefined) query.refuse('after', required)
    const untilMs = readTime(query, 'before')
    if (query.value('before') === undefined) query.refuse('before', required)
    // Only after a reported mistake, and then the value is not used.
    if (fromMs === null || untilMs === null) return { fromMs: 0, untilMs: 0 }
    const problem =
      untilMs <= fromMs
        ? 'must be later than after.'
        : untilMs - fromMs > WINDOW_CALENDAR_DAYS_MAX * DAY_MS
          ? `must not be more than ${WINDOW_CALENDAR_DAYS_MAX} days later than after.`
          : null
    if (problem !== null) query.refuse('before', (path) => refusedAs(path, problem))
    return { fromMs, untilMs }
  })
}

/** Checks the body of `POST /api/window-openings`. Never throws. */
export function readWindowTimes(body: RequestBody): BodyResult<WindowTimes> {
  return readJsonBody(body, FIELDS, (fields) => readTimes(fields, null))
}
