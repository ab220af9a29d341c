import type { StatisticsPoint } from '../../../../clients/typescript/src/client.ts'
import { formatCount, formatShare } from '../../format/numbers.ts'
import { formatDuration } from '../../format/times.ts'
import { countsOf, worstLateness } from './summary.ts'

type Points = readonly StatisticsPoint[]

/** How figures of a range compare with the span before, each as a part of a note; null = there is nothing to compare with. */
export interface Comparison {
  /** Such as `+38 % on the hour before`. */
  readonly ended: string | null
  readonly succeeded: string | null
  readonly failed: string | null
  readonly dead: string | null
  readonly failureRate: string | null
  readonly lateness: string | null
}

const NOTHING: Comparison = {
  ended: null,
  succeeded: null,
  failed: null,
  dead: null,
  failureRate: null,
  lateness: null,
}

/** @param before the points of the span before; null = not known, or no longer kept */
export function comparisonOf(
  points: Points,
  before: Points | null,
  range: { readonly before: string },
): Comparison {
  if (before === null || before.length === 0) return NOTHING
  // As many points of both: the one that is not over would make it look like less.
  const [now, then] = [countsOf(points.slice(0, before.length)), countsOf(before)]
  const on = (text: string | null) => (text === null ? null : `${text} on the ${range.before}`)
  const inIt = (text: string | null) => (text === null ? null : `${text} in the ${range.before}`)
  const lateness = worstLateness(before)
  return {
    ended: on(changeText(now.ended, then.ended)),
    succeeded: on(changeText(now.ended - now.failed, then.ended - then.failed)),
    failed: inIt(formatCount(then.failed)),
    dead: inIt(formatCount(then.dead)),
    failureRate: inIt(formatShare(then.failed, then.ended)),
    lateness: inIt(lateness === null ? null : `≈ ${formatDuration(lateness)}`),
  }
}

/** What has become of a count, such as `+38 %`; null when it was 0. */
export function changeText(now: number, before: number): string | null {
  if (before === 0) return null
  const percent = Math.round((now / before - 1) * 100)
  return percent > 0 ? `+${formatCount(percent)} %` : percent < 0 ? `−${-percent} %` : '±0 %'
}

/** The parts of a note that there are, with dots between. */
export function noteOf(...parts: ReadonlyArray<string | null>): string {
  return parts.filter((part) => part !== null).join(' · ')
}
