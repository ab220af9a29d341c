import type { StatisticsPoint } from '../../../../clients/typescript/src/client.ts'
import type { Line } from '../../ui/charts/series.ts'

type Points = readonly StatisticsPoint[]
/** The value of a point, or of several. */
type ValueOf = (points: Points) => number | null

/** The whole span also has the point that is not over and is not drawn, so that it says the same as the figures. */
export function lineOf({
  shown,
  all,
  valueOf,
}: {
  readonly shown: Points
  readonly all: Points
  readonly valueOf: ValueOf
}): Line {
  return {
    values: shown.map((point) => valueOf([point])),
    over: (from, to) => valueOf(from === undefined ? all : shown.slice(from, to)),
  }
}

/** Puts each point of the span before under the time that lies the span's length after it. */
export function beforeLine(
  before: Points,
  {
    shown,
    shiftMs,
    valueOf,
  }: { readonly shown: Points; readonly shiftMs: number; readonly valueOf: ValueOf },
): Line {
  const byTime = new Map(before.map((point) => [Date.parse(point.at) + shiftMs, point]))
  const under = shown.map(({ at }) => byTime.get(Date.parse(at)))
  const found = (points: typeof under): number | null => {
    const known = points.filter((point) => point !== undefined)
    return known.length === 0 ? null : valueOf(known)
  }
  return {
    values: under.map((point) => found([point])),
    over: (from, to) => (from === undefined ? valueOf(before) : found(under.slice(from, to))),
  }
}
