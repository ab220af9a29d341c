/** What several runs of one measurement came to. */
export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

/** @param values at least one, all finite; else RangeError */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = sortedCopy(values)
  const middle = (sorted.length - 1) / 2
  const low = sorted[Math.floor(middle)] as number
  const high = sorted[Math.ceil(middle)] as number
  return { median: (low + high) / 2, min: sorted[0] as number, max: sorted[sorted.length - 1] as number }
}

/**
 * The mean, and its standard error: the true mean lies within two of them 19 times of 20.
 *
 * @param values at least two, all finite
 */
export function meanOf(values: readonly number[]): { readonly mean: number; readonly error: number } {
  const sorted = sortedCopy(values)
  const mean = sorted.reduce((sum, value) => sum + value, 0) / sorted.length
  const squares = sorted.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return { mean, error: Math.sqrt(squares / (sorted.length - 1) / sorted.length) }
}

/** The smallest value that at least `share` (0–1) of all values do not exceed. @param values at least one, all finite */
export function percentile(values: readonly number[], share: number): number {
  const sorted = sortedCopy(values)
  const rank = Math.ceil(share * sorted.length)
  return sorted[Math.min(sorted.length, Math.max(1, rank)) - 1] as number
}

/** A count of arrivals at a moment. */
export interface CountSample {
  readonly atMs: number
  readonly count: number
}

/**
 * Events per second between two shares of the final count, so that neither start-up nor the last stragglers count.
 * Null when the samples are too few to say.
 */
export function steadyRate(
  samples: readonly CountSample[],
  window: { readonly from: number; readonly to: number },
): number | null {
  const first = samples[0]
  const last = samples.at(-1)
  if (first === undefined || last === undefined) return null
  const total = last.count - first.count
  const start = samples.find((sample) => sample.count - first.count >= total * window.from)
  const end = samples.find((sample) => sample.count - first.count >= total * window.to)
  if (start === undefined || end === undefined || end.atMs <= start.atMs) return null
  return ((end.count - start.count) * 1000) / (end.atMs - start.atMs)
}

function sortedCopy(values: readonly number[]): number[] {
  if (values.length === 0 || !values.every(Number.isFinite)) {
    throw new RangeError('Statistics need at least one value, and finite ones only.')
  }
  return values.toSorted((a, b) => a - b)
}
