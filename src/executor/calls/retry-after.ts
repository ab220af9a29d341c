import { RETRY_AFTER_SECONDS_MAX } from '../../domain/limits.ts'

const MAX_MS = RETRY_AFTER_SECONDS_MAX * 1000

/**
 * Reads `Retry-After` (RFC 9110, 10.2.3): a count of seconds, or a date.
 * @returns ms from now on, a day at most; null = it asks for no time, or cannot be read
 */
export function retryAfter(value: string, nowMs: number): number | null {
  const text = value.trim()
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : dateMs(text) - nowMs
  return ms > 0 ? Math.min(Math.ceil(ms), MAX_MS) : null
}

/** A date of HTTP begins with a weekday, in one of three forms. All are of GMT; that of asctime does not say so. */
function dateMs(text: string): number {
  if (!/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d/.test(text)) return Number.NaN
  return Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`)
}
