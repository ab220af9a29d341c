/** Spans that figures are shown over. */
export const RANGES = [
  { name: '1h', label: '1 hour', seconds: 3_600, step: 60 },
  { name: '24h', label: '24 hours', seconds: 86_400, step: 600 },
  { name: '7d', label: '7 days', seconds: 604_800, step: 3_600 },
] as const

export type Range = (typeof RANGES)[number]

/** The range of this name, or the shortest. */
export function rangeOf(name: string | undefined): Range {
  return RANGES.find((range) => range.name === name) ?? RANGES[0]
}

/** When a range that ends now begins, at the start of a step, so that the same points are asked for all the while. */
export function sinceOf({ seconds, step }: Range, nowMs: number): string {
  const stepMs = step * 1_000
  return new Date(Math.floor((nowMs - seconds * 1_000) / stepMs) * stepMs).toISOString()
}
