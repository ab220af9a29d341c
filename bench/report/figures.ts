import { spreadOf, type Spread } from './statistics.ts'

export type Better = 'higher' | 'lower'

interface FigureKind {
  readonly name: string
  readonly unit: string
  readonly better: Better
}

/** Every figure, in the order of the table. Others read `latest.json` by these names. */
export const FIGURE_KINDS = [
  { name: 'executed_jobs_per_second', unit: 'jobs/s', better: 'higher' },
  { name: 'accepted_jobs_per_second', unit: 'jobs/s', better: 'higher' },
  { name: 'accepted_in_batches_jobs_per_second', unit: 'jobs/s', better: 'higher' },
  { name: 'end_to_end_jobs_per_second', unit: 'jobs/s', better: 'higher' },
  { name: 'limited_queues_jobs_per_second', unit: 'jobs/s', better: 'higher' },
  { name: 'lateness_p50_ms', unit: 'ms', better: 'lower' },
  { name: 'lateness_p99_ms', unit: 'ms', better: 'lower' },
  { name: 'lateness_equal_p50_ms', unit: 'ms', better: 'lower' },
  { name: 'lateness_equal_p99_ms', unit: 'ms', better: 'lower' },
  { name: 'datastore_cpu_us_per_job', unit: 'µs', better: 'lower' },
  { name: 'client_cpu_us_per_job', unit: 'µs', better: 'lower' },
  { name: 'api_allocated_bytes_per_job', unit: 'B', better: 'lower' },
  { name: 'executor_allocated_bytes_per_job', unit: 'B', better: 'lower' },
  { name: 'bytes_per_waiting_job', unit: 'B', better: 'lower' },
  { name: 'bytes_per_delayed_job', unit: 'B', better: 'lower' },
  { name: 'bytes_per_finished_job', unit: 'B', better: 'lower' },
  { name: 'idle_commands_per_second', unit: 'commands/s', better: 'lower' },
  { name: 'idle_bytes_per_queue', unit: 'B', better: 'lower' },
  { name: 'recovery_seconds', unit: 's', better: 'lower' },
  { name: 'lost_jobs', unit: 'jobs', better: 'lower' },
  { name: 'rss_mib_10000_calls', unit: 'MiB', better: 'lower' },
] as const satisfies readonly FigureKind[]

export type FigureName = (typeof FIGURE_KINDS)[number]['name']

export interface Figure {
  readonly name: FigureName
  readonly unit: string
  readonly better: Better
  readonly punctual: Spread
  readonly peers: Readonly<Record<string, Spread>>
  /** Over 1 = Punctual is better, whichever direction is good. Null without a peer, or when a zero makes it endless. */
  readonly ratio_to_best_peer: number | null
}

export const PUNCTUAL = 'punctual'

/** What each contender measured, run by run. */
export class Measurements {
  readonly #values = new Map<FigureName, Map<string, number[]>>()

  add(figure: FigureName, contender: string, value: number): void {
    if (!Number.isFinite(value)) throw new RangeError(`${figure} of ${contender} is not a number.`)
    const byContender = this.#values.get(figure) ?? new Map<string, number[]>()
    byContender.set(contender, [...(byContender.get(contender) ?? []), value])
    this.#values.set(figure, byContender)
  }

  valuesOf(figure: FigureName, contender: string): readonly number[] {
    return this.#values.get(figure)?.get(contender) ?? []
  }

  /** A figure that Punctual itself could not be measured for is left out. */
  figures(): Figure[] {
    return FIGURE_KINDS.flatMap((kind) => {
      const byContender = this.#values.get(kind.name)
      const own = byContender?.get(PUNCTUAL)
      return byContender === undefined || own === undefined ? [] : [toFigure(kind, own, byContender)]
    })
  }
}

function toFigure(
  kind: (typeof FIGURE_KINDS)[number],
  own: readonly number[],
  byContender: ReadonlyMap<string, readonly number[]>,
): Figure {
  const punctual = rounded(spreadOf(own))
  const peers: Record<string, Spread> = {}
  for (const [name, values] of byContender) if (name !== PUNCTUAL) peers[name] = rounded(spreadOf(values))
  const medians = Object.values(peers).map((peer) => peer.median)
  return { ...kind, punctual, peers, ratio_to_best_peer: ratioToBest(kind.better, punctual.median, medians) }
}

/** Two equal zeros are a draw. */
export function ratioToBest(better: Better, own: number, peers: readonly number[]): number | null {
  if (peers.length === 0) return null
  const best = better === 'higher' ? Math.max(...peers) : Math.min(...peers)
  if (own === best) return 1
  const [over, under] = better === 'higher' ? [own, best] : [best, own]
  return under === 0 ? null : round(over / under)
}

function rounded(spread: Spread): Spread {
  return { median: round(spread.median), min: round(spread.min), max: round(spread.max) }
}

/** Whole numbers from 1,000 on, else three digits that count. */
function round(value: number): number {
  return Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(3))
}
