/** Jobs accepted together have the same due time: format it once. */
let last = { unixMs: Number.NaN, text: '' }

/** The format of every timestamp on the wire: UTC with milliseconds and an offset, `2026-11-21T10:00:00.000+00:00`. */
export function formatTimestamp(unixMs: number): string {
  if (unixMs !== last.unixMs) {
    last = { unixMs, text: `${new Date(unixMs).toISOString().slice(0, -1)}+00:00` }
  }
  return last.text
}

export function timestampOrNull(unixMs: number | null): string | null {
  return unixMs === null ? null : formatTimestamp(unixMs)
}
