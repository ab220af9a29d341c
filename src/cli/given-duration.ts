import { cliError, MISUSED } from './cli-error.ts'

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds of a text such as `90s`, `30m`, `2h` or `1d`; anything else is a misuse of the flag. */
export function durationMs(flag: string, text: string): number {
  const [, count = '', unit = ''] = /^([1-9][0-9]{0,5})([smhd])$/.exec(text) ?? []
  const unitMs = UNITS_MS[unit]
  if (unitMs === undefined) {
    throw cliError(`${flag} ${JSON.stringify(text)} is not a duration such as 90s, 30m, 2h or 1d`, MISUSED)
  }
  return Number(count) * unitMs
}
