/** The part of a pool that only newcomers may take: holders that hold nothing of it yet. */
const NEWCOMERS_SHARE = 0.02
/** A smaller pool has no place to set apart for newcomers. */
const NEWCOMERS_POOL_MIN = 4
/** Absorbs the rounding error of α. */
export const ROUNDING = 1e-9

/**
 * How many times the free capacity one holder may hold, so that alone it ends at its share. @param share of the whole, above
 * 0 and below 1
 */
export function alphaOf(share: number): number {
  return share / (1 - share)
}

/**
 * How much more one holder may take, by dynamic thresholds: the largest `r` with `held + r ≤ α (available − r)`. Whatever
 * others hold lowers `available` and with it everybody's threshold, so nobody needs to know who the others are.
 */
export function headroomOf(holder: {
  readonly alpha: number
  readonly available: number
  readonly held: number
}): number {
  const { alpha, available, held } = holder
  return Math.max(0, Math.floor((alpha * available - held) / (1 + alpha) + ROUNDING))
}

/** Places out of `total` that only a newcomer may take. */
export function forNewcomersOf(total: number): number {
  return total < NEWCOMERS_POOL_MIN ? 0 : Math.max(1, Math.floor(total * NEWCOMERS_SHARE))
}
