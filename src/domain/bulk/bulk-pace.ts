/** A bulk with a rate begins with this share of it, which doubles until all of it is reached. */
const RAMP_START = 0.1
const RAMP_DOUBLES_EVERY_MS = 10_000
/** Jobs a second: lower rates have no ramp. */
const RAMPED_RATE_MIN = 1

interface Pace {
  readonly ratePerSecond: number
  /** How long the bulk has been running. */
  readonly runningMs: number
  /** Parts that have not ended; they share the rate. */
  readonly parts: number
}

/** The jobs a second that one part may act on now. */
export function rateOfPart({ ratePerSecond, runningMs, parts }: Pace): number {
  const doublings = Math.floor(Math.max(0, runningMs) / RAMP_DOUBLES_EVERY_MS)
  const ramped = ratePerSecond * Math.min(1, RAMP_START * 2 ** doublings)
  return Math.max(ramped, Math.min(ratePerSecond, RAMPED_RATE_MIN)) / Math.max(1, parts)
}

/** Jobs of one page: at most those of a second, so that a rate is not kept by bursts. */
export function pageSizeAt(partRate: number, most: number): number {
  return Math.max(1, Math.min(most, Math.floor(partRate)))
}
