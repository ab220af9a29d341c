import { expect, test } from 'vitest'
import { FILES_AGAIN_MAX, filesToRunAgain, settle } from '../../../scripts/suites/second-run.ts'
import { outsideFiles, type Failure, type SuiteSummary } from '../../../scripts/suites/summary.ts'

const failure = (file: string, message = 'wrong'): Failure => ({ file, message: `${file} > ${message}` })
const run = (passed: number, ...failures: Failure[]): SuiteSummary => ({ passed, failures, skipped: [] })

test('each file that failed runs again once', () => {
  expect(filesToRunAgain(run(3, failure('a'), failure('a', 'too'), failure('b')))).toEqual(['a', 'b'])
  expect(filesToRunAgain(run(3))).toEqual([])
})

test('many failed files, or an error outside them alone, do not', () => {
  const files = Array.from({ length: FILES_AGAIN_MAX }, (_, index) => failure(`file ${index}`))
  expect(filesToRunAgain(run(0, ...files))).toHaveLength(FILES_AGAIN_MAX)
  expect(filesToRunAgain(run(0, ...files, failure('one more')))).toEqual([])
  expect(filesToRunAgain(run(0, outsideFiles('stray')))).toEqual([])
})

test('what passes the second time is unsteady, and what fails again is a failure', () => {
  const first = run(7, failure('a'), failure('b'), failure('b', 'too'))
  expect(settle(first, run(4, failure('a', 'other')))).toEqual({
    passed: 9,
    failures: [failure('a')],
    skipped: [],
    unsteady: ['b > wrong', 'b > too'],
  })
})

test('tests that a failed hook kept from running have run the second time', () => {
  const hook: Failure = { file: 'a', message: 'a: Hook timed out' }
  const first = {
    passed: 7,
    failures: [hook],
    skipped: ['a > one: no reason', 'a > two: no reason', 'b > x: no IPv6'],
  }
  const again = { passed: 1, failures: [], skipped: ['a > two: no IPv6'] }
  expect(settle(first, again)).toEqual({
    passed: 8,
    failures: [],
    skipped: ['b > x: no IPv6', 'a > two: no IPv6'],
    unsteady: ['a: Hook timed out'],
  })
  expect(settle(first, { ...again, failures: [hook] })).toMatchObject({ passed: 7, skipped: first.skipped })
})

test('an error outside the files stays a failure, and one in the second run lets nothing pass', () => {
  const stray = outsideFiles('stray')
  expect(settle(run(7, failure('a'), stray), run(4))).toMatchObject({
    passed: 8,
    failures: [stray],
    unsteady: ['a > wrong'],
  })
  expect(settle(run(7, failure('a')), run(0, stray))).toMatchObject({
    passed: 7,
    failures: [failure('a')],
    unsteady: [],
  })
})
