import type { Paces } from '../load/paces.ts'
import type { Figure } from './figures.ts'

export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memory_gib: number
  readonly os: string
  readonly node: string
  readonly redis: string
}

/** `bench/results/latest.json`. */
export interface Results {
  readonly machine: Machine
  readonly commit: string
  readonly figures: readonly Figure[]
}

/** What the page says beside the figures: `bench/results/run.json`. */
export interface RunNotes {
  readonly command: string
  readonly finished_at: string
  readonly minutes: number
  readonly runs: number
  readonly settings: Readonly<Record<string, string | number>>
  /** Limits of the parts alone, on the same machine at the same time. */
  readonly ceilings: ReadonlyArray<{ readonly name: string; readonly unit: string; readonly value: number }>
  /** The rates of the lateness figures; null when none was measured. */
  readonly paces: Paces | null
  /** Where CPU and memory of Punctual's processes go. */
  readonly breakdowns: readonly Breakdown[]
  /** What stands beside the figures of each peer. */
  readonly peers: ReadonlyArray<{
    readonly name: string
    readonly setup: string
    readonly lacks: string
    readonly better: string
  }>
  /** Facts of this run that a figure cannot hold, such as a count of early calls. */
  readonly notes: readonly string[]
  /** What was not measured, and why. */
  readonly skipped: readonly string[]
}

/** What a job costs one process, and which share of it each place in the code takes. */
export interface Breakdown {
  readonly name: string
  readonly unit: string
  readonly perJob: number
  /** 0–1 by place; together 1. */
  readonly shares: Readonly<Record<string, number>>
}

/** As text: one line a figure, so that a change of one shows as one line. */
export function renderResults(results: Results): string {
  const figures = results.figures.map((figure) => `    ${JSON.stringify(figure)}`).join(',\n')
  return [
    '{',
    `  "machine": ${JSON.stringify(results.machine)},`,
    `  "commit": ${JSON.stringify(results.commit)},`,
    `  "figures": [\n${figures}\n  ]`,
    '}',
    '',
  ].join('\n')
}
