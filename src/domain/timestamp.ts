/** The one form of a timestamp on the wire: UTC with milliseconds and an offset, `2026-11-21T10:00:00.000+00:00`. */
export function formatTimestamp(unixMs: number): string {
  return new Date(unixMs).toISOString().replace('Z', '+00:00')
}

export function timestampOrNull(unixMs: number | null): string | null {
  return unixMs === null ? null : formatTimestamp(unixMs)
}
