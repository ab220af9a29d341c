import type { Failure, SuiteSummary } from './summary.ts'

/** More files than this have a cause in common, which a second run would only hide. */
export const FILES_AGAIN_MAX = 3

export interface SettledSummary extends SuiteSummary {
  /** What failed beside other tests and passed in a second run of its file alone: a defect to be found, of test or product. */
  readonly unsteady: readonly string[]
}

/** The files that failed, if they are worth a second run alone; else none. */
export function filesToRunAgain({ failures }: SuiteSummary): string[] {
  const files = new Set(failures.map(({ file }) => file))
  return files.size > FILES_AGAIN_MAX ? [] : [...files].filter((file) => file !== null)
}

/**
 * Judges a run by a second one of its failed files: a file without failures the second time was unsteady, and the tests
 * that were skipped because a hook of it failed have run then. An error outside the files, of either run, stays a failure.
 */
export function settle(first: SuiteSummary, again: SuiteSummary): SettledSummary {
  const failedAgain = new Set(again.failures.map(({ file }) => file))
  const isUnsteady = ({ file }: Failure) => file !== null && !failedAgain.has(file) && !failedAgain.has(null)
  const unsteady = first.failures.filter(isUnsteady)
  const files = new Set(unsteady.map(({ file }) => file))
  const isOfThem = (told: string) => [...files].some((file) => told.startsWith(`${file} > `))
  const [wasSkipped, stays] = [first.skipped.filter(isOfThem), again.skipped.filter(isOfThem)]
  // A hook is no test.
  const failedTests = unsteady.filter(({ message }) => isOfThem(message))
  return {
    passed: first.passed + failedTests.length + wasSkipped.length - stays.length,
    failures: first.failures.filter((failure) => !isUnsteady(failure)),
    skipped: [...first.skipped.filter((told) => !isOfThem(told)), ...stays],
    unsteady: unsteady.map(({ message }) => message),
  }
}
