import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { parse } from 'yaml'
import { helmObstacle, renderChart } from '../../support/cluster/chart.ts'
import { toolObstacle, toolPath } from '../../support/tools.ts'

const FIND = 'checkov.sh'
const CONFIG = fileURLToPath(new URL('../../../.checkov.yaml', import.meta.url))
/** It loads for seconds on a busy machine. */
const LINT_TIMEOUT_MS = 120_000

const folder = mkdtempSync(join(tmpdir(), 'punctual-lint-'))

beforeEach(({ skip }) => {
  const obstacle = helmObstacle() ?? toolObstacle(FIND)
  skip(obstacle !== null, obstacle ?? '')
})
afterAll(() => rmSync(folder, { recursive: true }))

/** The pod of `helm test` runs once and ends: probes and a network policy of its own would prove nothing. */
const OF_THE_TEST_POD = ['CKV2_K8S_6', 'CKV_K8S_8', 'CKV_K8S_9'].map(
  (id) => `${id} Pod.punctual.punctual-test`,
)

/** The endpoints of the API server are in the namespace default, so the right to read them is there too. */
const OF_THE_API_SERVER = ['Role', 'RoleBinding'].map(
  (kind) => `CKV_K8S_21 ${kind}.default.punctual-punctual-api-server`,
)
const EXPECTED = [...OF_THE_TEST_POD, ...OF_THE_API_SERVER].sort()

interface Findings {
  readonly passed: number
  /** A check and an object each, whether the configuration excepts the check or not. */
  readonly failed: readonly string[]
}

async function lint(manifests: string): Promise<Findings> {
  const file = join(folder, 'manifests.yaml')
  writeFileSync(file, manifests)
  // In place of the exceptions of the configuration: one run finds what they except as well.
  const given = ['--config-file', CONFIG, '--skip-check', 'CKV_NONE', '--file', file, '--output', 'json']
  const report = await new Promise<string>((resolve, reject) => {
    execFile(
      join(toolPath(FIND), 'checkov'),
      given,
      { timeout: LINT_TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 },
      // With findings it ends with 1, as it does when it breaks.
      (error, stdout, stderr) => (stdout === '' ? reject(error ?? new Error(stderr)) : resolve(stdout)),
    )
  })
  const { results, summary } = JSON.parse(report) as {
    summary: { passed: number }
    results: { failed_checks: { check_id: string; resource: string }[] }
  }
  return {
    passed: summary.passed,
    failed: results.failed_checks.map(({ check_id, resource }) => `${check_id} ${resource}`),
  }
}

test(
  'the linter finds nothing in what the chart makes but exceptions, each of which is needed',
  { timeout: 2 * LINT_TIMEOUT_MS },
  async () => {
    const { 'skip-check': exceptions } = parse(readFileSync(CONFIG, 'utf8')) as { 'skip-check': string[] }
    const { passed, failed } = await lint(await renderChart())
    const checkOf = (finding: string) => finding.split(' ')[0] ?? ''
    const byException = Map.groupBy(failed, (one) => exceptions.includes(checkOf(one)))
    expect(byException.get(false)?.toSorted()).toEqual(EXPECTED)
    expect(new Set(byException.get(true)?.map(checkOf))).toEqual(new Set(exceptions))
    expect(passed).toBeGreaterThan(300)
  },
)
