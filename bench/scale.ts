/**
 * What becomes of the engine at sizes that few installations have: `node bench/scale.ts pending`, `busy-queues`,
 * `delayed`, `executors`, `processes` or `primaries`, with a smaller size behind it if wanted. Needs `make build`. Writes
 * bench/results/scale.json, a line for each figure, and the table of docs/performance.md.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BenchError } from './harness/bench-error.ts'
import { newFolder, runMain } from './harness/main-run.ts'
import { requirePrograms } from './harness/requirements.ts'
import { describeCommit, describeMachine } from './machine.ts'
import { measureBusyQueues } from './scale/busy-queues.ts'
import { measureDelayed } from './scale/delayed.ts'
import { measureExecutors } from './scale/executors.ts'
import { measurePrimaries } from './scale/primaries.ts'
import { measureProcesses } from './scale/processes.ts'
import type { Measurement, ScaleRun } from './scale/measurement.ts'
import { measurePending } from './scale/pending.ts'
import { readResults, withResults, withScaleTable, writeResults } from './scale/scale-results.ts'

const ROOT = join(import.meta.dirname, '..')
const RESULTS = join(ROOT, 'bench/results/scale.json')
const PAGE = join(ROOT, 'docs/performance.md')

/** With the size that each has if none is given. */
const SCENARIOS: Readonly<Record<string, { size: number; measure(run: ScaleRun): Promise<void> }>> = {
  pending: { size: 10_000_000, measure: measurePending },
  'busy-queues': { size: 100_000, measure: measureBusyQueues },
  executors: { size: 100, measure: measureExecutors },
  processes: { size: 200_000, measure: measureProcesses },
  primaries: { size: 200_000, measure: measurePrimaries },
  delayed: { size: 1_000_000, measure: measureDelayed },
}

const say = (text: string): void => console.error(text)
const [name = '', sizeText] = process.argv.slice(2)
await runMain(async () => {
  const scenario = SCENARIOS[name]
  if (scenario === undefined)
    throw new BenchError(`usage: node bench/scale.ts ${Object.keys(SCENARIOS).join('|')} [size]`)
  requirePrograms(say)
  const size = Number(sizeText ?? scenario.size)
  const measured: Measurement[] = []
  await scenario.measure({
    folder: newFolder(),
    size,
    say,
    record: (figure, unit, value, goal) => {
      say(`${figure}: ${value.toFixed(2)} ${unit}`)
      measured.push({ scenario: name, size, figure, unit, value: round(value), goal: goal ?? null })
    },
  })
  write(measured)
  const over = measured.filter(({ value, goal }) => goal !== null && value > goal)
  for (const { figure, unit, value, goal } of over)
    say(`over its bound: ${figure}, ${value} ${unit} of ${goal}`)
  return over.length > 0 ? 1 : 0
})

function write(measured: readonly Measurement[]): void {
  const of = {
    commit: describeCommit(ROOT),
    finished_at: new Date().toISOString(),
    machine: describeMachine(),
  }
  const results = withResults(
    readResults(RESULTS),
    measured.map((measurement) => ({ ...measurement, of })),
  )
  writeResults(RESULTS, results)
  writeFileSync(PAGE, withScaleTable(readFileSync(PAGE, 'utf8'), results))
}

function round(value: number): number {
  return Number(value.toPrecision(4))
}
