/**
 * Runs every suite but e2e, or those named as arguments, and adds the results up. Its last line is always
 * `N passed, N failed`. A suite without tests, a file that does not load and an error outside a test count as failures;
 * so does a skipped test in CI.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { startVitest } from 'vitest/node'
import { summarise } from './suite-summary.ts'
import type { SuiteSummary } from './suite-summary.ts'

interface Suite {
  readonly name: string
  /** On two cores; over it the summary says so. */
  readonly budgetSeconds: number
  /** Says why the suite cannot run on this machine; null when it can. */
  readonly obstacle?: () => string | null
  /** Runs only when it is named: it needs more than this machine's own programs. */
  readonly onlyByName?: true
}

interface SuiteResult extends SuiteSummary {
  readonly suite: Suite
  readonly seconds: number
}

const FIND_CONTROL_PLANE = fileURLToPath(new URL('control-plane.sh', import.meta.url))
const FIND_CHROMIUM = fileURLToPath(new URL('chromium.sh', import.meta.url))

const SUITES: readonly Suite[] = [
  { name: 'unit', budgetSeconds: 10 },
  { name: 'model', budgetSeconds: 120, obstacle: withoutRedis },
  { name: 'simulation', budgetSeconds: 120 },
  { name: 'integration', budgetSeconds: 240, obstacle: withoutRedis },
  { name: 'dashboard', budgetSeconds: 180, obstacle: () => withoutRedis() ?? withoutChromium() },
  { name: 'cluster', budgetSeconds: 180, obstacle: withoutControlPlane },
  { name: 'e2e', budgetSeconds: 900, onlyByName: true },
]

const inCi = !['', 'false', undefined].includes(process.env.CI)

const results: SuiteResult[] = []
for (const suite of suitesNamed(process.argv.slice(2))) results.push(await runSuite(suite))
process.exit(report(results))

function suitesNamed(names: readonly string[]): readonly Suite[] {
  if (names.length === 0) return SUITES.filter((suite) => suite.onlyByName !== true)
  return names.map((name) => {
    const suite = SUITES.find((one) => one.name === name)
    if (suite === undefined) throw new Error(`There is no suite ${name}.`)
    return suite
  })
}

async function runSuite(suite: Suite): Promise<SuiteResult> {
  const obstacle = suite.obstacle?.() ?? null
  if (obstacle !== null) {
    return { suite, seconds: 0, passed: 0, failures: [], skipped: [`every test: ${obstacle}`] }
  }
  console.log(`\n# ${suite.name}`)
  const startedAt = performance.now()
  const vitest = await startVitest('test', [], { watch: false, project: suite.name, passWithNoTests: true })
  const summary = summarise(vitest.state.getTestModules(), vitest.state.getUnhandledErrors())
  await vitest.close()
  return { suite, seconds: (performance.now() - startedAt) / 1000, ...summary }
}

function withoutRedis(): string | null {
  const found = ['redis-server', 'valkey-server'].some((name) => !spawnSync(name, ['--version']).error)
  return found ? null : 'neither redis-server nor valkey-server is on PATH'
}

function withoutControlPlane(): string | null {
  return obstacleOf(FIND_CONTROL_PLANE)
}

function withoutChromium(): string | null {
  return obstacleOf(FIND_CHROMIUM)
}

/** A script finds, downloads or builds what a suite needs, and may take minutes the first time: outside its budget. */
function obstacleOf(script: string): string | null {
  const found = spawnSync(script, { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' })
  return found.status === 0 ? null : (found.stderr.trim().split('\n').at(-1) ?? `${script} found nothing`)
}

/** @returns the exit code */
function report(all: readonly SuiteResult[]): number {
  let passed = 0
  let failed = 0
  console.log('\n# Summary')
  for (const result of all) {
    passed += result.passed
    failed += result.failures.length + (inCi ? result.skipped.length : 0)
    const late =
      result.seconds > result.suite.budgetSeconds
        ? `, over its budget of ${result.suite.budgetSeconds} s`
        : ''
    const counts = `${result.passed} passed, ${result.failures.length} failed, ${result.skipped.length} skipped`
    console.log(`${result.suite.name}: ${counts} in ${result.seconds.toFixed(1)} s${late}`)
    for (const failure of result.failures) console.log(`  failed: ${failure}`)
    for (const name of result.skipped) console.log(`  ${inCi ? 'failed, skipped in CI' : 'skipped'}: ${name}`)
  }
  console.log(`${passed} passed, ${failed} failed`)
  return failed > 0 ? 1 : 0
}
