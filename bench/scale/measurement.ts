/** One figure of a scenario, as it stands in `bench/results/scale.json`, a line each. */
export interface Measurement {
  readonly scenario: string
  readonly size: number
  readonly figure: string
  readonly unit: string
  readonly value: number
  /** The most that it may be; null where nothing is asked. */
  readonly goal: number | null
}

/** What a scenario is given. */
export interface ScaleRun {
  readonly folder: string
  readonly size: number
  say(text: string): void
  /** @param goal the most that it may be */
  record(figure: string, unit: string, value: number, goal?: number): void
}

/** The value below which so large a share of them lies; 0 of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
}
