/** The range of scores that each team has in the ring; see base/ring/bands.lua. */
const BAND = 2 ** 37
/** Several teams may share the last number. */
export const LAST_TEAM = '65535'

/** Lowest score of a team's band, and the first above it, as ZRANGE and ZCOUNT read them. */
export function bandRange(teamNumber: string): [from: string, to: string] {
  const from = Number(teamNumber) * BAND
  return [String(from), `(${from + BAND}`]
}

export function bandOf(score: number): string {
  return String(Math.floor(score / BAND))
}
