import {
  changeText,
  dayOfChange,
  formatDayTime,
  offsetText,
  weekdayOf,
} from '../../../format/clock-changes.ts'
import { Badge } from '../../../ui/text/badge.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { Time } from '../../../ui/text/time.tsx'
import type { ChangeTime, RunOrChange, RunTime } from './run-times.ts'
import './run-times.css'

/** Times of runs, a column for each zone, with the changes of clocks where they come. */
export function RunTable({
  caption,
  times,
  zones,
  isOneDay = false,
}: {
  readonly caption: string
  readonly times: readonly RunOrChange[]
  readonly zones: readonly string[]
  /** The day is named elsewhere. */
  readonly isOneDay?: boolean
}) {
  return (
    <div class="table-frame" tabIndex={0} role="region" aria-label={caption}>
      <table class="table run-times">
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {zones.map((zone, index) => (
              <th key={zone} scope="col">
                {zone}
                <small>
                  {index > 0 ? 'yours' : zones.length > 1 ? 'the cron’s' : 'the cron’s and yours'}
                </small>
              </th>
            ))}
            {!isOneDay && (
              <th scope="col" data-align="end">
                From now
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {times.map((time) =>
            time.kind === 'run' ? (
              <Run key={time.atMs} run={time} zones={zones} isOneDay={isOneDay} />
            ) : (
              <Change
                key={`${time.zone} ${time.atMs}`}
                time={time}
                width={zones.length + 1}
                isOneDay={isOneDay}
              />
            ),
          )}
        </tbody>
      </table>
    </div>
  )
}

function Run({
  run: { atMs, change },
  zones,
  isOneDay,
}: {
  readonly run: RunTime
  readonly zones: readonly string[]
  readonly isOneDay: boolean
}) {
  return (
    <tr>
      {zones.map((zone, index) => (
        <td key={zone} class="number">
          <Moment atMs={atMs} zone={zone} isOneDay={isOneDay} />
          {!isOneDay && index === 0 && change !== null && (
            <Badge tone="warn">{24 - (change.afterMs - change.beforeMs) / 3_600_000} h day</Badge>
          )}
        </td>
      ))}
      {!isOneDay && (
        <td data-align="end">
          <Time at={new Date(atMs).toISOString()} />
        </td>
      )}
    </tr>
  )
}

function Moment({
  atMs,
  zone,
  isOneDay,
}: {
  readonly atMs: number
  readonly zone: string
  readonly isOneDay: boolean
}) {
  const text = formatDayTime(atMs, Date.now(), zone)
  return (
    <>
      {text.slice(0, isOneDay ? 4 : -5)}
      <strong>{text.slice(-5)}</strong> <small class="soft">{offsetText(atMs, zone)}</small>
    </>
  )
}

function Change({
  time: { change, zone },
  width,
  isOneDay,
}: {
  readonly time: ChangeTime
  readonly width: number
  readonly isOneDay: boolean
}) {
  const day = dayOfChange(change)
  return (
    <tr class="run-times-change">
      <td colSpan={width}>
        <Icon name="cron" size={14} /> {!isOneDay && `${weekdayOf(day)} ${day}: `}
        {changeText(change)} in {zone}
      </td>
    </tr>
  )
}
