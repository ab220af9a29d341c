import { stripVTControlCharacters } from 'node:util'

/** Of an error's text, in the summary: a difference of two values is told by its first lines. */
const ERROR_LINES_MAX = 12

export interface Failure {
  /** The path of the file from the project's root; null for an error outside the tests. */
  readonly file: string | null
  readonly message: string
}

/** What one run of a suite amounted to. */
export interface SuiteSummary {
  readonly passed: number
  /** Never empty when the run was not a success. */
  readonly failures: readonly Failure[]
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
      result(): {
        readonly state: string
        readonly note?: string | undefined
        readonly errors?: ReadonlyArray<{ readonly message: string }> | undefined
      }
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
  failures.push(
    ...strayErrors.map((error) => outsideFiles(`outside the tests: ${excerpt(messageOf(error))}`)),
  )
  const skipped = parts.flatMap((part) => part.skipped)
  const passed = parts.reduce((sum, part) => sum + part.passed, 0)
  if (passed + failures.length + skipped.length === 0) failures.push(outsideFiles('the suite has no tests'))
  return { passed, failures, skipped }
}

/** A failure that belongs to the suite as a whole. */
export function outsideFiles(message: string): Failure {
  return { file: null, message }
}

function summariseFile(file: TestFile): SuiteSummary {
  const messages: string[] = []
  const skipped: string[] = []
  let passed = 0
  for (const test of file.children.allTests()) {
    const name = `${file.relativeModuleId} > ${test.fullName}`
    const result = test.result()
    if (result.state === 'passed') passed += 1
    else if (result.state === 'skipped') skipped.push(`${name}: ${result.note ?? 'no reason given'}`)
    else if (result.state !== 'failed') messages.push(`${name}: did not end`)
    else messages.push([name, ...(result.errors ?? []).map((error) => excerpt(error.message))].join(': '))
  }
  messages.push(...errorsBesideTests(file).map((message) => `${file.relativeModuleId}: ${message}`))
  if (!file.ok() && messages.length === 0) messages.push(`${file.relativeModuleId}: failed`)
  return { passed, failures: messages.map((message) => ({ file: file.relativeModuleId, message })), skipped }
}

function errorsBesideTests(file: TestFile): string[] {
  const groups = [...file.children.allSuites()].flatMap((suite) => [...suite.errors()])
  return [...file.errors(), ...groups].map((error) => excerpt(error.message))
}

function messageOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error
    ? String(error.message)
    : String(error)
}

/** Whoever reads it may have nothing but the summary: a failure that comes once in a hundred runs is told in full here. */
function excerpt(text: string): string {
  const lines = stripVTControlCharacters(text).split('\n')
  const more = lines.length > ERROR_LINES_MAX ? ['…'] : []
  return [...lines.slice(0, ERROR_LINES_MAX), ...more].join('\n    ')
}
