/** What one run of a suite amounted to. */
export interface SuiteSummary {
  readonly passed: number
  /** What failed, in words; never empty when the run was not a success. */
  readonly failures: readonly string[]
  /** Name and reason. */
  readonly skipped: readonly string[]
}

/** What is read of a vitest TestModule, which fits; an import or a hook that threw is an error of file or group. */
export interface TestFile {
  readonly relativeModuleId: string
  ok(): boolean
  errors(): ReadonlyArray<{ readonly message: string }>
  readonly children: {
    allTests(): Iterable<{
      readonly fullName: string
      result(): { readonly state: string; readonly note?: string | undefined }
    }>
    allSuites(): Iterable<{ errors(): ReadonlyArray<{ readonly message: string }> }>
  }
}

/**
 * Adds up a run. No tests at all is a failure: an empty suite proves nothing.
 * @param strayErrors thrown outside any test
 */
export function summarise(files: readonly TestFile[], strayErrors: readonly unknown[]): SuiteSummary {
  const parts = files.map(summariseFile)
  const failures = parts.flatMap((part) => part.failures)
  failures.push(...strayErrors.map((error) => `outside the tests: ${firstLine(messageOf(error))}`))
  const skipped = parts.flatMap((part) => part.skipped)
  const passed = parts.reduce((sum, part) => sum + part.passed, 0)
  if (passed + failures.length + skipped.length === 0) failures.push('the suite has no tests')
  return { passed, failures, skipped }
}

function summariseFile(file: TestFile): SuiteSummary {
  const failures: string[] = []
  const skipped: string[] = []
  let passed = 0
  for (const test of file.children.allTests()) {
    const name = `${file.relativeModuleId} > ${test.fullName}`
    const result = test.result()
    if (result.state === 'passed') passed += 1
    else if (result.state === 'skipped') skipped.push(`${name}: ${result.note ?? 'no reason given'}`)
    else failures.push(result.state === 'failed' ? name : `${name}: did not end`)
  }
  failures.push(...errorsBesideTests(file).map((message) => `${file.relativeModuleId}: ${message}`))
  if (!file.ok() && failures.length === 0) failures.push(`${file.relativeModuleId}: failed`)
  return { passed, failures, skipped }
}

function errorsBesideTests(file: TestFile): string[] {
  const groups = [...file.children.allSuites()].flatMap((suite) => [...suite.errors()])
  return [...file.errors(), ...groups].map((error) => firstLine(error.message))
}

function messageOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error
    ? String(error.message)
    : String(error)
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? ''
}
