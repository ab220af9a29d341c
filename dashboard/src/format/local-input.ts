import { formatStamp } from './times.ts'

/** The value of an `<input type="datetime-local">`, to the minute. @param zone of an IANA name */
export function toLocalInput(atMs: number, zone: string): string {
  return formatStamp(atMs, zone).slice(0, 16).replace(' ', 'T')
}

/**
 * The moment that such a value means in a zone, as the API takes it; null when it is none, or its year has no
 * four digits yet. Of a time that a change of
 * clocks skips or repeats, one that is near.
 */
export function fromLocalInput(value: string, zone: string): string | null {
  const asUtcMs = Date.parse(`${value}Z`)
  if (Number.isNaN(asUtcMs) || value.startsWith('0')) return null
  const first = asUtcMs - offsetMs(asUtcMs, zone)
  return new Date(asUtcMs - offsetMs(first, zone)).toISOString()
}

/** Local time minus UTC. */
export function offsetMs(atMs: number, zone: string): number {
  const wholeMs = Math.floor(atMs / 1_000) * 1_000
  return Date.parse(`${formatStamp(wholeMs, zone).replace(' ', 'T')}Z`) - wholeMs
}
