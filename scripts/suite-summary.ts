import type { TestCase, TestModule } from 'vitest/node'

/** What one run of a suite amounted to. */
export interface SuiteSummary {
  readonly passed: number
  /** What failed, in words; never empty when the run was not a success. */
  readonly failures: readonly string[]
  /** Name and reason. */
  readonly skipped: readonly string[]
}

/** What is read of a file of tests; a hook or an import that threw is an error of the file or of a group in it. */
type Module = Pick<TestModule, 'relativeModuleId' | 'errors' | 'ok'> & {
  readonly children: {
    allTests(): Iterable<Case>
    allSuites(): Iterable<{ errors(): readonly { message: string }[] }>
  }
}
type Case = Pick<TestCase, 'fullName' | 'result'>

/**
 * Adds up a run. No tests at all is a failure: an empty suite proves nothing.
 * @param strayErrors thrown outside any test
 */
export function summarise(modules: readonly Module[], strayErrors: readonly unknown[]): SuiteSummary {
  const failures: string[] = []
  const skipped: string[] = []
  let passed = 0
  let seen = 0
  for (const module of modules) {
    for (const test of module.children.allTests()) {
      seen += 1
      const name = `${module.relativeModuleId} > ${test.fullName}`
      const result = test.result()
      if (result.state === 'passed') passed += 1
      else if (result.state === 'skipped') skipped.push(`${name}: ${result.note ?? 'no reason given'}`)
      else failures.push(result.state === 'failed' ? name : `${name}: did not end`)
    }
    failures.push(...errorsBesideTests(module).map((message) => `${module.relativeModuleId}: ${message}`))
    if (!module.ok() && failures.length === 0) failures.push(`${module.relativeModuleId}: failed`)
  }
  failures.push(...strayErrors.map((error) => `outside the tests: ${firstLine(messageOf(error))}`))
  if (seen === 0 && failures.length === 0) failures.push('the suite has no tests')
  return { passed, failures, skipped }
}

function errorsBesideTests(module: Module): string[] {
  const groups = [...module.children.allSuites()].flatMap((suite) => [...suite.errors()])
  return [...module.errors(), ...groups].map((error) => firstLine(error.message))
}

function messageOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error
    ? String(error.message)
    : String(error)
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? ''
}
