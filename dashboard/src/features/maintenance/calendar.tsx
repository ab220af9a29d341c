import type { ComponentChildren } from 'preact'
import type { MaintenanceWindow } from '../../../../clients/typescript/src/client.ts'
import { useRead } from '../../api/reads.ts'
import { at } from '../../routing/paths.ts'
import type { UrlQuery } from '../../routing/url-query.ts'
import { textOf } from '../../format/values/known-values.ts'
import { effectText } from './window-text.ts'
import { Button } from '../../ui/button.tsx'
import { ChoiceBar } from '../../ui/forms/choice-bar.tsx'
import { QueryStatus } from '../../ui/page/empty.tsx'
import { Panel } from '../../ui/page/page.tsx'
import { useNow, useZone } from '../../ui/text/time.tsx'
import {
  type Day,
  dateOf,
  dayText,
  daysOf,
  moved,
  type Piece,
  piecesOf,
  titleOf,
  type View,
} from './calendar-days.ts'
import './calendar.css'

const VIEWS = [
  { value: 'week', label: 'Week' },
  { value: 'month', label: 'Month' },
] as const
const MINUTE_MS = 60_000
/** In a day of a month. */
const PIECES_MAX = 3
/** Beside the lines of a week. */
const HOURS = [6, 12, 18]

interface CalendarProps {
  readonly windows: readonly MaintenanceWindow[]
  readonly query: UrlQuery
}

/** When windows are open, by the week or month that the address names. */
export function Calendar({ windows, query: { values, set } }: CalendarProps) {
  const zone = useZone()
  const view: View =
    VIEWS.find(({ value }) => value === values['view'])?.value ?? (isNarrow() ? 'week' : 'month')
  const today = dateOf(Date.now(), zone)
  const date = isDate(values['date']) ? values['date'] : today
  const days = daysOf(view, date, zone)
  const [first, last] = [days[0], days.at(-1)] as [Day, Day]
  const read = useRead('readWindowOpenings', {
    // What goes on beyond the days shown is told from what ends with them.
    after: new Date(first.startMs - MINUTE_MS).toISOString(),
    before: new Date(last.endMs + MINUTE_MS).toISOString(),
  })
  const go = (step: 1 | -1): void => set({ date: moved(view, date, step) })
  const { openings = [], cut = [] } = read.data ?? {}
  const linkOf = (piece: Piece) => (
    <OpeningLink
      key={`${piece.windowId} ${piece.begin}`}
      piece={piece}
      window={windows.find(({ id }) => id === piece.windowId)}
      href={at('/maintenance', { ...values, window: piece.windowId })}
    />
  )
  return (
    <Panel
      isFlush
      title={titleOf(view, date)}
      actions={
        <>
          <Button look="bare" onClick={() => set({ date: null })}>
            Today
          </Button>
          <Button look="bare" icon="back" label={`The ${view} before`} onClick={() => go(-1)} />
          <Button look="bare" icon="chevron" label={`The next ${view}`} onClick={() => go(1)} />
          <ChoiceBar label="Calendar" options={VIEWS} value={view} onChange={(next) => set({ view: next })} />
        </>
      }
    >
      <QueryStatus query={read} what="the calendar" />
      {read.data !== undefined && (
        <ol class="calendar" data-view={view}>
          {days.map((day) => (
            <DayCell
              key={day.date}
              day={day}
              isToday={day.date === today}
              isOutside={view === 'month' && day.date.slice(0, 7) !== date.slice(0, 7)}
              linkOf={linkOf}
              pieces={piecesOf(openings, day, zone)}
              {...(view === 'month' && { max: PIECES_MAX })}
            />
          ))}
        </ol>
      )}
      {openings.length === 0 && read.isSuccess && <p class="calendar-note soft">No window opens then.</p>}
      {cut.length > 0 && (
        <p class="calendar-note soft">Not all openings are shown of {cut.join(', ')}: there are too many.</p>
      )}
    </Panel>
  )
}

/** A month would be a long list there. */
function isNarrow(): boolean {
  return window.innerWidth <= 700
}

function isDate(text: string | undefined): text is string {
  return /^[1-9]\d{3}-\d\d-\d\d$/.test(text ?? '') && !Number.isNaN(Date.parse(text ?? ''))
}

interface DayProps {
  readonly day: Day
  readonly isToday: boolean
  /** The day belongs to the month before or after. */
  readonly isOutside: boolean
  linkOf(piece: Piece): ComponentChildren
  readonly pieces: readonly Piece[]
  /** Absent = all are shown, at their time of the day. */
  readonly max?: number
}

function DayCell({ day, isToday, isOutside, linkOf, pieces, max }: DayProps) {
  const { date } = day
  const more = max === undefined ? 0 : pieces.length - max
  return (
    <li data-today={isToday} data-outside={isOutside} data-empty={pieces.length === 0}>
      <time dateTime={date}>{dayText(date)}</time>
      <div class="calendar-day">
        {pieces.slice(0, max).map(linkOf)}
        {more > 0 && (
          <a class="calendar-more" href={at('/maintenance', { view: 'week', date })}>
            {more} more
          </a>
        )}
        {max === undefined &&
          HOURS.map((hour) => (
            <small key={hour} aria-hidden="true" style={{ top: `${(hour / 24) * 100}%` }}>
              {hour}:00
            </small>
          ))}
        {isToday && max === undefined && <NowLine day={day} />}
      </div>
    </li>
  )
}

function OpeningLink({
  piece,
  window,
  href,
}: {
  readonly piece: Piece
  readonly window: MaintenanceWindow | undefined
  readonly href: string
}) {
  const { windowId, from, to, begin, end, lane, lanes } = piece
  const hours = from === null && to === null ? 'all day' : `${from ?? '…'}–${to ?? '…'}`
  return (
    <a
      class="opening"
      data-action={window?.action}
      href={href}
      title={window && `${windowId}: ${effectText(window)}, ${hours}`}
      style={{
        top: `${begin * 100}%`,
        height: `${(end - begin) * 100}%`,
        left: `${(lane / lanes) * 100}%`,
        width: `${100 / lanes}%`,
      }}
    >
      <strong>{windowId}</strong>
      <span>
        {window && textOf({ hold: 'Hold', mute: 'Mute' }, window.action)} {hours}
      </span>
    </a>
  )
}

function NowLine({ day: { startMs, endMs } }: { readonly day: Day }) {
  return <i class="calendar-now" style={{ top: `${((useNow() - startMs) / (endMs - startMs)) * 100}%` }} />
}
