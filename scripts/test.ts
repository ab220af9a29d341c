/**
 * Runs every suite but e2e, or those named as arguments, a computing and a waiting one at a time, and adds the results
 * up. The suites that need no tools begin at once; the tools are brought beside them. The last line is always
 * `N passed, N failed`. A suite without tests, a file that does not load, an error outside a test and a suite that took
 * more than twice its budget count as failures; so does a skipped test in CI.
 */
import { fork } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { filesToRunAgain, settle, type SettledSummary } from './suites/second-run.ts'
import { outsideFiles, type SuiteSummary } from './suites/summary.ts'
import { BUDGETS_MAX, SUITES, type Suite } from './suites/suites.ts'
import { bringTools, type BroughtTools } from './suites/tools.ts'

interface SuiteRun extends SuiteSummary {
  readonly suite: Suite
  readonly seconds: number
}

type SuiteResult = SuiteRun & SettledSummary

const SUITE_PROCESS = fileURLToPath(new URL('suites/suite-process.ts', import.meta.url))
const inCi = !['', 'false', undefined].includes(process.env.CI)

const suites = suitesNamed(process.argv.slice(2))
const tools = bringTools(new Set(suites.flatMap(({ needs, uses }) => [...needs, ...uses])), (line) =>
  say('tools', line),
)
const lanes = [...Map.groupBy(suites, ({ lane }) => lane).values()]
const runs = (await Promise.all(lanes.map((lane) => runOneByOne(lane, tools)))).flat()
const results: SuiteResult[] = []
for (const run of runs) results.push({ ...run, ...(await settled(run)) })
process.exit(report(results))

function suitesNamed(names: readonly string[]): readonly Suite[] {
  if (names.length === 0) return SUITES.filter((suite) => !suite.isOnlyByName)
  return names.map((name) => {
    const suite = SUITES.find((one) => one.name === name)
    if (suite === undefined) throw new Error(`There is no suite ${name}.`)
    return suite
  })
}

async function runOneByOne(lane: readonly Suite[], brought: BroughtTools): Promise<SuiteRun[]> {
  const done: SuiteRun[] = []
  for (const suite of lane) done.push(await runSuite(suite, brought))
  return done
}

async function runSuite(suite: Suite, brought: BroughtTools): Promise<SuiteRun> {
  for (const tool of suite.uses) await brought.get(tool)
  let obstacle: string | null = null
  for (const tool of suite.needs) obstacle ??= (await brought.get(tool)) ?? null
  if (obstacle !== null) {
    return { suite, seconds: 0, passed: 0, failures: [], skipped: [`every test: ${obstacle}`] }
  }
  say(suite.name, 'begins')
  const startedAt = performance.now()
  const summary = await summaryOf(suite)
  const seconds = (performance.now() - startedAt) / 1000
  say(suite.name, `ended after ${seconds.toFixed(1)} s`)
  return { suite, seconds, ...summary }
}

/** Passes on what the suite's process says, line by line, and answers what it sent at its end. */
async function summaryOf(suite: Suite, files: readonly string[] = []): Promise<SuiteSummary> {
  const child = fork(SUITE_PROCESS, [suite.name, ...files], { silent: true })
  for (const stream of [child.stdout, child.stderr]) {
    if (stream !== null) createInterface(stream).on('line', (line) => say(suite.name, line))
  }
  let summary: SuiteSummary | null = null
  child.on('message', (message) => (summary = message as SuiteSummary))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  const ended = outsideFiles(`its process ended with exit code ${code}`)
  return summary ?? { passed: 0, failures: [ended], skipped: [] }
}

async function settled(run: SuiteRun): Promise<SettledSummary> {
  const files = run.suite.isRunAgain ? filesToRunAgain(run) : []
  if (files.length === 0) return { ...run, unsteady: [] }
  say(run.suite.name, `runs again what failed: ${files.join(', ')}`)
  return settle(run, await summaryOf(run.suite, files))
}

/** @param what the name of a suite, or `tools` */
function say(what: string, line: string): void {
  console.log(`${what.padEnd(11)} | ${line}`)
}

/** @returns the exit code */
function report(all: readonly SuiteResult[]): number {
  let passed = 0
  let failed = 0
  console.log('\n# Summary')
  for (const result of all) {
    const failures = [...result.failures.map(({ message }) => message), ...lateness(result)]
    passed += result.passed
    failed += failures.length + (inCi ? result.skipped.length : 0)
    const counts = `${result.passed} passed, ${failures.length} failed, ${result.skipped.length} skipped`
    const { budgetSeconds, name } = result.suite
    const late = result.seconds > budgetSeconds ? `, over its budget of ${budgetSeconds} s` : ''
    console.log(`${name}: ${counts} in ${result.seconds.toFixed(1)} s${late}`)
    for (const failure of failures) console.log(`  failed: ${failure}`)
    for (const test of result.unsteady) console.log(`  unsteady, passed the second time: ${test}`)
    for (const test of result.skipped) console.log(`  ${inCi ? 'failed, skipped in CI' : 'skipped'}: ${test}`)
  }
  console.log(`${passed} passed, ${failed} failed`)
  return failed > 0 ? 1 : 0
}

function lateness({ suite, seconds }: SuiteResult): string[] {
  const most = suite.budgetSeconds * BUDGETS_MAX
  return seconds > most ? [`took ${seconds.toFixed(0)} s, more than ${most} s`] : []
}
