import { type CronFieldProblem, cronScheduleOf } from '../crons/cron.ts'
import type { CronSchedule } from '../crons/cron-schedule.ts'
import type { WindowSchedule, WindowTimes } from './maintenance-window.ts'

/** A window as it is at one time; times are Unix ms. It opens at a start and is closed from its end on. */
export interface WindowState {
  readonly isOpen: boolean
  /**
   * Start of the present opening; null = closed, or open for more than OPENINGS_JOINED_MAX openings without a break.
   */
  readonly sinceMs: number | null
  /** End of the present opening; null = closed, or open for more than OPENINGS_JOINED_MAX openings without a break. */
  readonly endMs: number | null
  /** Start of the next opening; null = never, or not before the end of an opening whose end is not known. */
  readonly nextStartMs: number | null
  /** Up to this time nothing of this changes, except that more may be known; Infinity = it never changes again. */
  readonly untilMs: number
}

/**
 * Openings of a window that follow each other without a break are one. A window that is open all the time, such as one of
 * every hour for an hour, has no first and no last one: it is followed for this many.
 */
export const OPENINGS_JOINED_MAX = 24

/** A schedule that opens nothing, because it cannot be read. */
export interface ScheduleProblem extends CronFieldProblem {
  /** Index of the schedule in its window. */
  readonly index: number
}

interface Rhythm {
  readonly schedule: CronSchedule
  readonly durationMs: number
}

/** `fromMs` is known to be open or closed as well, and each state holds up to `untilMs`. */
interface Stretch {
  readonly fromMs: number
  readonly state: WindowState
}

/**
 * Computes when a window is open. A recurring one opens at every tick of its schedules, by the rules of crons where
 * clocks are changed, and stays open for an elapsed time: an opening of two hours lasts two hours in every night. Keeps
 * the stretch asked for last, so asking again within it costs nothing.
 */
export class WindowOpenings {
  /**
   * Problem of the first schedule that has one. Whoever stored the window knew its time zone, but this program's tables
   * may differ.
   */
  readonly problem: ScheduleProblem | null
  readonly #times: { readonly startMs: number; readonly endMs: number } | readonly Rhythm[]
  #stretch: Stretch | null = null

  constructor(times: WindowTimes) {
    const read = times.kind === 'once' ? [] : times.schedules.map(rhythmOf)
    this.problem = read.find((one) => 'problem' in one) ?? null
    this.#times = times.kind === 'once' ? times : read.filter((one) => 'durationMs' in one)
  }

  at(nowMs: number): WindowState {
    const known = this.#stretch
    if (known !== null && known.fromMs <= nowMs && nowMs < known.state.untilMs) return known.state
    const stretch = 'startMs' in this.#times ? onceAt(this.#times, nowMs) : recurringAt(this.#times, nowMs)
    this.#stretch = stretch
    return stretch.state
  }
}

function rhythmOf(given: WindowSchedule, index: number): Rhythm | ScheduleProblem {
  const schedule = cronScheduleOf(given)
  return 'problem' in schedule
    ? { ...schedule, index }
    : { schedule, durationMs: given.durationSeconds * 1000 }
}

function onceAt({ startMs, endMs }: { startMs: number; endMs: number }, nowMs: number): Stretch {
  if (nowMs < startMs) return closed(-Infinity, startMs)
  if (nowMs >= endMs) return closed(endMs, null)
  const state = { isOpen: true, sinceMs: startMs, endMs, nextStartMs: null, untilMs: endMs }
  return { fromMs: startMs, state }
}

function closed(fromMs: number, nextStartMs: number | null): Stretch {
  const state = { isOpen: false, sinceMs: null, endMs: null, nextStartMs, untilMs: nextStartMs ?? Infinity }
  return { fromMs, state }
}

function recurringAt(rhythms: readonly Rhythm[], nowMs: number): Stretch {
  const startMs = firstTick(rhythms, ({ durationMs }) => nowMs - durationMs)
  if (startMs === null || startMs > nowMs)
    return closed(
      nowMs,
      firstTick(rhythms, () => nowMs),
    )
  const first = begunAt(rhythms, startMs)
  const last = endedAt(rhythms, nowMs)
  const state = {
    isOpen: true,
    sinceMs: first.isExact ? first.ms : null,
    endMs: last.isExact ? last.ms : null,
    nextStartMs: last.isExact ? firstTick(rhythms, () => last.ms) : null,
    untilMs: last.ms,
  }
  return { fromMs: first.ms, state }
}

/** The first tick of any rhythm after the moment that each is given. */
function firstTick(rhythms: readonly Rhythm[], afterMs: (rhythm: Rhythm) => number): number | null {
  let firstMs: number | null = null
  for (const rhythm of rhythms) {
    const tickMs = rhythm.schedule.next(afterMs(rhythm))
    if (tickMs !== null && (firstMs === null || tickMs < firstMs)) firstMs = tickMs
  }
  return firstMs
}

interface Edge {
  readonly ms: number
  /** false = the window is open beyond it as well. */
  readonly isExact: boolean
}

/** Goes back from a start through earlier openings that last until it. */
function begunAt(rhythms: readonly Rhythm[], startMs: number): Edge {
  let ms = startMs
  for (let joined = 0; joined < OPENINGS_JOINED_MAX; joined += 1) {
    const beforeMs = ms
    const earlierMs = firstTick(rhythms, ({ durationMs }) => beforeMs - durationMs - 1)
    if (earlierMs === null || earlierMs >= ms) return { ms, isExact: true }
    ms = earlierMs
  }
  return { ms, isExact: false }
}

/** Goes on through later openings that begin before the previous one ends, or when it does. Each tick is read once. */
function endedAt(rhythms: readonly Rhythm[], nowMs: number): Edge {
  let ms = lastEnd(rhythms, ({ durationMs }) => nowMs - durationMs, nowMs)
  let seenMs = nowMs
  for (let joined = 0; joined < OPENINGS_JOINED_MAX; joined += 1) {
    const fromMs = seenMs
    const endMs = Math.max(
      ms,
      lastEnd(rhythms, () => fromMs, ms),
    )
    if (endMs === ms) return { ms, isExact: true }
    seenMs = ms
    ms = endMs
  }
  return { ms, isExact: false }
}

/** The latest end of the openings that begin after each rhythm's moment and up to another; -Infinity = there are none. */
function lastEnd(rhythms: readonly Rhythm[], afterMs: (rhythm: Rhythm) => number, throughMs: number): number {
  let latestMs = -Infinity
  for (const rhythm of rhythms) {
    const { schedule, durationMs } = rhythm
    const { lastMs } = schedule.count(afterMs(rhythm), throughMs, Infinity)
    if (lastMs !== null) latestMs = Math.max(latestMs, lastMs + durationMs)
  }
  return latestMs
}
