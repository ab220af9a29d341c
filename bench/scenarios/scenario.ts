import { startTarget, type Target } from '../harness/nginx-target.ts'
import { BenchError, messageOf } from '../harness/bench-error.ts'
import { PUNCTUAL, type Measurements } from '../report/figures.ts'
import type { RunNotes } from '../report/results.ts'
import type { Sizes, TimedScenario } from '../sizes.ts'
import type { Contender, ScenarioName, Stand } from '../contenders/contender.ts'

const DEFAULT_CONCURRENCY = 150

/** What the page tells beside the figures; each is its scenario's to fill in. */
export interface Facts {
  ceilings: RunNotes['ceilings']
  paces: RunNotes['paces']
  breakdowns: RunNotes['breakdowns']
}

/** What every scenario works with. */
export interface Bench {
  readonly sizes: Sizes
  readonly folder: string
  readonly measured: Measurements
  readonly contenders: readonly Contender[]
  /** Chosen before the runs. */
  readonly concurrencyOf: Map<string, number>
  readonly facts: Facts
  readonly notes: string[]
  readonly skipped: string[]
  /** By the monotonic clock. */
  readonly startedMs: number
  say(text: string): void
}

interface Turn {
  readonly run: number
  readonly contender: Contender
}

/** The contenders in turns, run after run, as long as the scenario's time is likely to last for a whole further run. */
export function* turnsOf(
  bench: Bench,
  scenario: TimedScenario,
  contenders: readonly Contender[],
): Generator<Turn> {
  const { runs, untilSeconds } = bench.sizes
  const elapsedSeconds = (): number => (performance.now() - bench.startedMs) / 1000
  const repeated = contenders.filter((contender) => isRepeated(bench, contender))
  const secondsOf = new Map<string, number>()
  for (let run = 1; run <= runs; run += 1) {
    const taking = run === 1 ? contenders : repeated
    const expected = taking.reduce((sum, { name }) => sum + (secondsOf.get(name) ?? 0), 0)
    if (run > 1 && elapsedSeconds() + expected > untilSeconds[scenario]) {
      bench.notes.push(`${scenario}: ${run - 1} of ${runs} runs, then the time was up`)
      return
    }
    bench.say(`${scenario}, run ${run} of ${runs}`)
    for (const contender of taking) {
      const before = elapsedSeconds()
      yield { run, contender }
      secondsOf.set(contender.name, elapsedSeconds() - before)
    }
  }
}

/** Runs something on a stand and a target of its own; both are gone afterwards. */
export async function withStand<T>(
  bench: Bench,
  contender: Contender,
  use: (stand: Stand, target: Target) => Promise<T>,
): Promise<T> {
  const target = await startTarget(bench.folder)
  try {
    const stand = await contender.open(bench.folder)
    try {
      return await use(stand, target)
    } finally {
      await stand.close()
    }
  } finally {
    await target.stop()
  }
}

/** Punctual and the peers that are measured in a scenario. */
export function contendersOf({ contenders }: Bench, scenario: ScenarioName): Contender[] {
  return contenders.filter(({ scenarios }) => scenarios.includes(scenario))
}

/** Whether it takes part in every run of this size. */
export function isRepeated({ sizes }: Bench, { name }: Contender): boolean {
  return name === PUNCTUAL || (sizes.repeatedPeers?.includes(name) ?? true)
}

/** A scenario that fails for one contender is named in the results; the others go on. */
export async function attempt(
  bench: Bench,
  what: string,
  contender: Contender,
  run: () => Promise<void>,
): Promise<void> {
  const startedAt = performance.now()
  try {
    await run()
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    bench.say(`  ${contender.name}: ${what} (${seconds} s)`)
  } catch (error) {
    const text = `${what}, ${contender.name}: ${messageOf(error)}`
    bench.say(`  FAILED ${text}`)
    const oneLine = text.replaceAll(/\s+/g, ' ')
    if (!bench.skipped.includes(oneLine)) bench.skipped.push(oneLine)
    if (!(error instanceof BenchError) && contender.name === PUNCTUAL)
      bench.say(String((error as Error).stack))
  }
}

export function concurrencyOf(bench: Bench, contender: Contender): number {
  return bench.concurrencyOf.get(contender.name) ?? DEFAULT_CONCURRENCY
}
