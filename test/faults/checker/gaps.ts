/** The longest time between two neighbours. @param timesMs in any order */
export function longestGapMs(timesMs: readonly number[]): number {
  const sorted = timesMs.toSorted((one, other) => one - other)
  const gaps = sorted.map((time, at) => time - (sorted[at - 1] ?? time))
  return Math.round(Math.max(0, ...gaps))
}
