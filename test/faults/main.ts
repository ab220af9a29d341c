/**
 * `make faults`: runs every scenario, or those of `ROW` whose names contain `NAME`, and writes what came of them into results.json and
 * docs/reliability.md. `SEED=…` replays a run and writes nothing, and so does `TIMES=…`, which plays each fault so often on
 * one installation. The last line is `N passed, N failed`.
 */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describeCommit, describeMachine } from '../../bench/machine.ts'
import { endLeftBehind, prepareWorker } from '../support/servers/worker-processes.ts'
import type { Verdict } from './checker/figures.ts'
import { keepResults, type ScenarioResult } from './results.ts'
import { runScenario } from './runner/run-scenario.ts'
import type { Scenario } from './runner/scenario.ts'
import { SCENARIOS } from './scenarios/all.ts'
import { chosenScenarios, ofToday } from './scenarios/choice.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Of one fault: longer than all its waits together, so that a checker says what was waited for. */
const SCENARIO_MS_MAX = 360_000
const { ROW: row = '', NAME: part = '', SEED: givenSeed, TIMES: givenTimes } = process.env
const times = Number(givenTimes ?? 1)

prepareWorker()
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.once(signal, () => process.exit(130))
process.exit(await main())

async function main(): Promise<number> {
  const chosen = row === 'today' ? ofToday(SCENARIOS, new Date()) : chosenScenarios(SCENARIOS, row, part)
  const results: ScenarioResult[] = []
  for (const scenario of chosen) {
    const obstacle = scenario.obstacle()
    if (obstacle === null) results.push(await judged(scenario))
    else say(`${scenario.row}: ${scenario.name}: skipped, ${obstacle}`)
  }
  const failed = results.filter(({ complaints }) => complaints.length > 0)
  if (givenSeed === undefined && givenTimes === undefined && row !== 'today') write(results)
  say(`${results.length - failed.length} passed, ${failed.length} failed`)
  return failed.length > 0 ? 1 : 0
}

/** A scenario that broke off without a judgement, such as a server that did not start in time, runs once again. */
async function judged(scenario: Scenario): Promise<ScenarioResult> {
  const seed = givenSeed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(givenSeed)
  const result = await run(scenario, seed)
  return result.figures === null ? run(scenario, seed) : result
}

async function run(scenario: Scenario, seed: number): Promise<ScenarioResult> {
  say(`${scenario.row}: ${scenario.name} (SEED=${seed})`)
  const startedAt = performance.now()
  const verdict = await verdictOf(scenario, seed)
  endLeftBehind()
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10
  const { cores, cpu, memory_gib: memory, redis } = describeMachine()
  for (const complaint of verdict.complaints) say(`  failed: ${complaint}`)
  say(
    `  ${verdict.complaints.length === 0 ? 'passed' : 'failed'} in ${seconds} s ${JSON.stringify(verdict.figures)}`,
  )
  return {
    row: scenario.row,
    scenario: scenario.name,
    seed,
    commit: describeCommit(ROOT),
    ranOn: new Date().toISOString().slice(0, 10),
    machine: `${cores} × ${cpu}, ${memory} GiB, Redis ${redis}`,
    seconds,
    ...verdict,
  }
}

/** A scenario that breaks off has failed, and the others run all the same. */
async function verdictOf(
  scenario: Scenario,
  seed: number,
): Promise<Omit<Verdict, 'figures'> & Pick<ScenarioResult, 'figures'>> {
  const msMax = SCENARIO_MS_MAX * times
  const late = sleep(msMax, null, { ref: false }).then(() => {
    throw new Error(`it took more than ${msMax} ms`)
  })
  try {
    return await Promise.race([runScenario(scenario, { seed, times, onProgress: tell }), late])
  } catch (error) {
    return { figures: null, complaints: [`broke off: ${String(error)}`] }
  }
}

function write(results: readonly ScenarioResult[]): void {
  keepResults(
    results,
    SCENARIOS.map(({ name }) => name),
  )
  execFileSync(process.execPath, ['scripts/generate.ts'], { cwd: ROOT, stdio: 'inherit' })
}

function tell(played: number, { figures, complaints }: Verdict): void {
  say(`  ${played} of ${times} ${JSON.stringify(figures)}`)
  for (const complaint of complaints) say(`  so far: ${complaint}`)
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
