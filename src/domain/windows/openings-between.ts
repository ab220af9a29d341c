import type { SlicedWork } from '../shares/cost-gate.ts'
import { cronScheduleOf } from '../crons/cron.ts'
import { slicedTicks } from '../crons/sliced-ticks.ts'
import type { WindowTimes } from './maintenance-window.ts'

/** Unix ms; it begins at the start and is over at the end. */
export interface Opening {
  readonly startMs: number
  readonly endMs: number
}

export interface OpeningList {
  /** Openings in order of time; those that overlap or touch are joined. */
  readonly openings: readonly Opening[]
  /** Openings are complete only up to here, because a schedule ticks too often; null = complete. */
  readonly cutMs: number | null
}

/** The span that is looked at; what lies beyond it is cut off the openings. */
export interface OpeningSpan {
  readonly fromMs: number
  /** Infinity = as far as `ticksMax` leads. */
  readonly untilMs: number
  /** Ticks read of each schedule at most. */
  readonly ticksMax: number
}

/** The openings of a window within a span of time, as WindowOpenings finds them one by one. */
export function* openingsBetween(times: WindowTimes, span: OpeningSpan): SlicedWork<OpeningList> {
  if (times.kind === 'once') return { openings: within([times], span), cutMs: null }
  const { fromMs, untilMs, ticksMax } = span
  const cutsMs: number[] = []
  const openings: Opening[] = []
  for (const { durationSeconds, ...given } of times.schedules) {
    yield
    const schedule = cronScheduleOf(given)
    // Opens nothing, as everywhere.
    if ('problem' in schedule) continue
    const durationMs = durationSeconds * 1000
    // Of the openings that are under way, the last one ends last.
    const { lastMs: underWayMs } = schedule.count(fromMs - durationMs, fromMs, Infinity)
    yield
    const ticks = yield* slicedTicks(schedule, { afterMs: fromMs, untilMs: untilMs - 1, limit: ticksMax })
    const lastMs = ticks.at(-1)
    if (ticks.length === ticksMax && lastMs !== undefined) cutsMs.push(lastMs + durationMs)
    const startsMs = underWayMs === null ? ticks : [underWayMs, ...ticks]
    for (const startMs of startsMs) openings.push({ startMs, endMs: startMs + durationMs })
  }
  const knownMs = Math.min(untilMs, ...cutsMs)
  return {
    openings: within(joined(openings), { fromMs, untilMs: knownMs }),
    cutMs: knownMs < untilMs ? knownMs : null,
  }
}

function joined(openings: readonly Opening[]): Opening[] {
  const whole: Opening[] = []
  for (const opening of openings.toSorted((a, b) => a.startMs - b.startMs)) {
    const last = whole.at(-1)
    if (last === undefined || opening.startMs > last.endMs) whole.push(opening)
    else whole[whole.length - 1] = { ...last, endMs: Math.max(last.endMs, opening.endMs) }
  }
  return whole
}

function within(
  openings: readonly Opening[],
  { fromMs, untilMs }: Pick<OpeningSpan, 'fromMs' | 'untilMs'>,
): Opening[] {
  return openings
    .map(({ startMs, endMs }) => ({ startMs: Math.max(startMs, fromMs), endMs: Math.min(endMs, untilMs) }))
    .filter(({ startMs, endMs }) => startMs < endMs)
}
