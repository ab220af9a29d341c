const TIMESTAMP =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:[Zz]|([+-])(\d{2}):?(\d{2})?)$/

/**
 * Parses an ISO 8601 time with an offset (`Z`, `+02:00`, `+0200`, `+02`) to Unix ms; null when it is not valid. Stricter
 * than `Date.parse`, which accepts 30 February, `24:00` and times without an offset.
 */
export function parseTimestamp(text: string): number | null {
  const match = TIMESTAMP.exec(text)
  if (match === null) return null
  const part = (index: number): number => Number(match[index] ?? 0)
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)]
  const [offsetHours, offsetMinutes] = [part(9), part(10)]
  if (hour > 23 || minute > 59 || second > 59 || offsetHours > 23 || offsetMinutes > 59) return null
  const date = new Date(0)
  // Date.UTC would read the years 0–99 as 1900–1999.
  date.setUTCFullYear(year, month - 1, day)
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null
  const millisecond = Number((match[7] ?? '').slice(0, 3).padEnd(3, '0'))
  date.setUTCHours(hour, minute, second, millisecond)
  const offsetMs = (offsetHours * 60 + offsetMinutes) * 60_000
  return date.getTime() - (match[8] === '-' ? -offsetMs : offsetMs)
}

const SPAN = /^(\d{1,6})([smhdw])$/
const SPAN_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const

/** Parses a span of time such as `15m`, `1h` or `7d` to ms; null when it is not valid. */
export function parseSpan(text: string): number | null {
  const [, count, unit] = SPAN.exec(text) ?? []
  return count === undefined ? null : Number(count) * SPAN_MS[unit as keyof typeof SPAN_MS]
}
