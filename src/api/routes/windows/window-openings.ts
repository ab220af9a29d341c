import type { RequestBody } from '../../../contract/fields/json-body.ts'
import { readOpeningsQuery, readWindowTimes } from '../../../contract/requests/windows/opening-query.ts'
import type { WindowPreview } from '../../../../clients/typescript/src/generated/wire.ts'
import { writeList } from '../../../contract/responses/lists/json-list.ts'
import {
  type ListedWindow,
  toWindowCalendar,
  toWindowPreview,
} from '../../../contract/responses/window-wire.ts'
import type { SlicedWork } from '../../../domain/shares/cost-gate.ts'
import { WINDOWS_PER_TEAM_MAX } from '../../../domain/limits.ts'
import {
  type MaintenanceWindow,
  WINDOW_CALENDAR_TICKS_MAX,
  WINDOW_PREVIEW_OPENINGS,
  WINDOW_PREVIEW_TICKS_MAX,
  WINDOW_SCHEDULE_TICKS_MAX,
  type WindowTimes,
} from '../../../domain/windows/maintenance-window.ts'
import {
  type OpeningList,
  openingsBetween,
  type OpeningSpan,
} from '../../../domain/windows/openings-between.ts'
import type { Clock } from '../../../ports/runtime.ts'
import type { WindowStore } from '../../../ports/windows.ts'
import { maySeeResource } from '../../access/queue-guard.ts'
import { answerFresh, answerJson, answerProblem } from '../../answers.ts'
import { workInTurns } from '../../bounds/costly-work.ts'
import { acceptedBody, type TeamRequest } from '../../team-routes.ts'

interface OpeningParts {
  readonly windows: WindowStore
  readonly clock: Clock
}

/** Answers when the windows of the team are open within a span of time. */
export async function answerOpenings(context: TeamRequest, { windows, clock }: OpeningParts): Promise<void> {
  const { team, principal, search, response } = context
  const query = readOpeningsQuery(search, clock.wallMs())
  if (query.kind === 'invalid') return answerProblem(response, query.problem)
  const page = await windows.list({ team, limit: WINDOWS_PER_TEAM_MAX, cursor: null })
  if (page === 'bad_cursor') throw new Error('a first page has no cursor')
  const shown = page.windows.filter(({ resource }) => maySeeResource(principal, resource))
  const schedules = shown.reduce((sum, window) => sum + schedulesOf(window), 0)
  const ticksMax = Math.min(
    WINDOW_SCHEDULE_TICKS_MAX,
    Math.floor(WINDOW_CALENDAR_TICKS_MAX / Math.max(1, schedules)),
  )
  const text = await workInTurns(context, calendarText(shown, { ...query.value, ticksMax }))
  if (text !== null) answerFresh(context, text)
}

function* calendarText(shown: readonly MaintenanceWindow[], span: OpeningSpan): SlicedWork<string> {
  const listed: ListedWindow[] = []
  for (const { name, times } of shown) listed.push({ name, ...(yield* openingsOrNone(times, span)) })
  yield
  const { openings, ...rest } = toWindowCalendar(listed)
  yield
  return yield* writeList({ field: 'openings', rows: openings, toWire: (opening) => opening, rest })
}

/** A window whose openings cannot be computed is named in `cut`, and its neighbours are shown. */
function* openingsOrNone(times: WindowTimes, span: OpeningSpan): SlicedWork<OpeningList> {
  try {
    return yield* openingsBetween(times, span)
  } catch {
    return { openings: [], cutMs: span.fromMs }
  }
}

function schedulesOf({ times }: MaintenanceWindow): number {
  return times.kind === 'once' ? 0 : times.schedules.length
}

/** Answers when a window of these times would be open next. */
export async function answerPreview(
  context: TeamRequest,
  { clock }: OpeningParts,
  body: RequestBody,
): Promise<void> {
  const times = acceptedBody(context, readWindowTimes(body))
  if (times === null) return
  const span = { fromMs: clock.wallMs(), untilMs: Infinity, ticksMax: WINDOW_PREVIEW_TICKS_MAX }
  const preview = await workInTurns(context, previewOf(times, span))
  if (preview !== null) answerJson(context.response, 200, JSON.stringify(preview))
}

function* previewOf(times: WindowTimes, span: OpeningSpan): SlicedWork<WindowPreview> {
  const list = yield* openingsBetween(times, span)
  yield
  return toWindowPreview(times, list, WINDOW_PREVIEW_OPENINGS)
}
