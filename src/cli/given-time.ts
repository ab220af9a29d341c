import { parseTimestamp } from '../contract/requests/run-at.ts'
import { cliError, MISUSED } from './cli-error.ts'

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
/** How far from now a span may lead: ten years. */
const SPAN_DAYS_MAX = 3650
const SPAN_MS_MAX = SPAN_DAYS_MAX * 86_400_000

/** How every help text of an option that takes a time gives examples of one. */
export const TIME_BACK = '2026-12-24T18:00:00+01:00, or 1h for an hour ago'
export const TIME_AHEAD = '2026-12-24T18:00:00+01:00, or 2h for two hours from now'

/** Milliseconds of a text such as `90s`, `30m`, `2h` or `1d`; anything else is a misuse of the flag. */
export function durationMs(flag: string, text: string): number {
  const ms = spanMs(text)
  if (ms !== null) return ms
  throw cliError(`${flag} ${JSON.stringify(text)} is not a duration such as 90s, 30m, 2h or 1d`, MISUSED)
}

/** Whole seconds, given as a number of them or as a span such as `15m`. */
export function givenSeconds(flag: string, text: string): number {
  if (/^[0-9]{1,16}$/.test(text)) return Number(text)
  const ms = spanMs(text)
  if (ms !== null) return ms / 1000
  const told = JSON.stringify(text)
  throw cliError(
    `${flag} ${told} is neither a whole number of seconds nor a span such as 90s, 15m or 2h`,
    MISUSED,
  )
}

/** As `givenSeconds`, of an option that may be absent. */
export function maybeSeconds(flag: string, text: string | undefined): number | undefined {
  return text === undefined ? undefined : givenSeconds(flag, text)
}

/** A time as the API takes it, given as one or as a span back from now. */
export function timeBack(flag: string, text: string | undefined, nowMs: number): string | undefined {
  return text === undefined ? undefined : timeOf(flag, text, { nowMs, direction: -1 })
}

/** A time as the API takes it, given as one or as a span from now on. */
export function timeAhead(flag: string, text: string | undefined, nowMs: number): string | undefined {
  return text === undefined ? undefined : timeOf(flag, text, { nowMs, direction: 1 })
}

interface From {
  readonly nowMs: number
  readonly direction: 1 | -1
}

function timeOf(flag: string, text: string, { nowMs, direction }: From): string {
  // As it was written, so that the API judges and repeats the very same.
  if (parseTimestamp(text) !== null) return text
  const ms = spanMs(text)
  if (ms === null) {
    const forms = `a time with an offset such as 2026-12-24T18:00:00+01:00 nor a span such as 15m, 1h or 7d`
    throw cliError(`${flag} ${JSON.stringify(text)} is neither ${forms}`, MISUSED)
  }
  if (ms > SPAN_MS_MAX) {
    throw cliError(`${flag} ${text} is longer than ${SPAN_DAYS_MAX}d`, MISUSED)
  }
  return new Date(nowMs + direction * ms).toISOString()
}

function spanMs(text: string): number | null {
  const [, count = '', unit = ''] = /^([1-9][0-9]{0,5})([smhd])$/.exec(text) ?? []
  const unitMs = UNITS_MS[unit]
  return unitMs === undefined ? null : Number(count) * unitMs
}
