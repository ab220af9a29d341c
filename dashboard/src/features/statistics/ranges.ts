import { formatDuration } from '../../format/times.ts'

/** Spans that figures are shown over. */
export const RANGES = [
  { name: '1h', label: '1 hour', before: 'hour before', seconds: 3_600, step: 60 },
  { name: '24h', label: '24 hours', before: 'day before', seconds: 86_400, step: 600 },
  { name: '7d', label: '7 days', before: 'week before', seconds: 604_800, step: 3_600 },
] as const

export type Range = (typeof RANGES)[number]

/** The range of this name, or the shortest. */
export function rangeOf(name: string | undefined): Range {
  return RANGES.find((range) => range.name === name) ?? RANGES[0]
}

/** How long statistics are kept, in seconds. */
const KEPT_SECONDS = 604_800

/** The span before a range that begins at `since`, as it is asked for; null = it is no longer kept. */
export function spanBefore({ seconds }: Range, since: string): { since: string; until: string } | null {
  if (2 * seconds > KEPT_SECONDS) return null
  return { since: new Date(Date.parse(since) - seconds * 1_000).toISOString(), until: since }
}

/** When a range that ends now begins, at the start of a step, so that the same points are asked for all the while. */
export function sinceOf({ seconds, step }: Range, nowMs: number): string {
  const stepMs = step * 1_000
  return new Date(Math.floor((nowMs - seconds * 1_000) / stepMs) * stepMs).toISOString()
}

/** What a point is called, such as `minute` or `10 min`. @param seconds of a point */
export function stepText(seconds: number): string {
  return seconds === 60 ? 'minute' : formatDuration(seconds * 1_000)
}
