/**
 * How often durations fell into buckets whose bounds are powers of two: bucket 0 is below 1 ms, bucket n ≥ 1 is from
 * 2^(n−1) up to 2^n ms. Index = bucket; what is missing at the end is 0.
 */
export type Histogram = number[]

/** The last one also takes everything longer: from 12 days. */
export const BUCKET_MAX = 31

export function bucketOf(durationMs: number): number {
  // Also of a time before it was due, and of what is not a number.
  if (!(durationMs >= 1)) return 0
  return Math.min(BUCKET_MAX, 32 - Math.clz32(Math.min(durationMs, 0xffff_ffff)))
}

export function countIn(histogram: Histogram, bucket: number, count = 1): void {
  for (let i = histogram.length; i < bucket; i += 1) histogram[i] = 0
  histogram[bucket] = (histogram[bucket] ?? 0) + count
}

export function addHistogram(into: Histogram, from: Readonly<Histogram>): void {
  from.forEach((count, bucket) => {
    if (count > 0) countIn(into, bucket, count)
  })
}

/** What stands for the durations of a bucket: the middle between its bounds, in ms; 0 for what is below 1 ms. */
export function middleOf(bucket: number): number {
  return bucket <= 0 ? 0 : 2 ** (bucket - 0.5)
}

/** The middle of the last bucket that has a count; 0 without any. */
export function lastMiddle(histogram: Readonly<Histogram>): number {
  return middleOf(histogram.findLastIndex((count) => count > 0))
}

/**
 * The duration in ms that a share of all durations does not exceed; null when there are none. It stands for its bucket by
 * the middle between the bounds, so it is off by a factor of √2 at most; below 1 ms it is 0. It is never above the longest
 * of all durations, where this is known.
 *
 * @param share above 0, up to 1
 * @param longestMs 0 = not known
 */
export function quantile(histogram: Readonly<Histogram>, share: number, longestMs = 0): number | null {
  const total = histogram.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  const rank = Math.ceil(total * share)
  let below = 0
  const middle = middleOf(histogram.findIndex((count) => (below += count) >= rank))
  return Number((longestMs > 0 ? Math.min(middle, longestMs) : middle).toPrecision(4))
}
