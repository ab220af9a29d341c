import { expect, test } from 'vitest'
import { summarise, type SuiteSummary, type TestFile } from '../../../scripts/suites/summary.ts'

interface Result {
  readonly state: string
  readonly errors?: ReadonlyArray<{ readonly message: string }>
  readonly note?: string
}

function file(
  results: readonly Result[],
  errors: { file?: string; hook?: string; ok?: boolean } = {},
): TestFile {
  const texts = (message: string | undefined) => (message === undefined ? [] : [{ message }])
  return {
    relativeModuleId: 'a.test.ts',
    ok: () => errors.ok ?? true,
    errors: () => texts(errors.file),
    children: {
      allTests: () => results.map((result, index) => ({ fullName: `test ${index}`, result: () => result })),
      allSuites: () => [{ errors: () => texts(errors.hook) }],
    },
  }
}

const messages = ({ failures }: SuiteSummary) => failures.map(({ message }) => message)

test('passed, failed and skipped tests are told apart, with the reason of a skip', () => {
  const results = [
    { state: 'passed' },
    { state: 'failed', errors: [{ message: 'not \u001b[31mright\u001b[39m' }] },
    { state: 'skipped', note: 'no IPv6' },
    { state: 'pending' },
  ]
  expect(summarise([file(results)], [])).toEqual({
    passed: 1,
    failures: [
      { file: 'a.test.ts', message: 'a.test.ts > test 1: not right' },
      { file: 'a.test.ts', message: 'a.test.ts > test 3: did not end' },
    ],
    skipped: ['a.test.ts > test 2: no IPv6'],
  })
})

test('no tests at all is a failure', () => {
  expect(messages(summarise([], []))).toEqual(['the suite has no tests'])
  expect(messages(summarise([file([])], []))).toEqual(['the suite has no tests'])
})

test('a file that does not load, a hook that throws and an error outside the tests are failures', () => {
  const good = file([{ state: 'passed' }])
  expect(messages(summarise([good, file([], { file: 'Cannot find x' })], []))).toEqual([
    'a.test.ts: Cannot find x',
  ])
  expect(messages(summarise([file([{ state: 'passed' }], { hook: 'boom' })], []))).toEqual([
    'a.test.ts: boom',
  ])
  expect(messages(summarise([good], [new Error('stray')]))).toEqual(['outside the tests: stray'])
  expect(messages(summarise([file([{ state: 'passed' }], { ok: false })], []))).toEqual(['a.test.ts: failed'])
})

test('a long error is told by its first lines', () => {
  const message = Array.from({ length: 40 }, (_, i) => `line ${i}`).join('\n')
  const [failure = ''] = messages(summarise([file([{ state: 'failed', errors: [{ message }] }])], []))
  expect(failure.split('\n').map((line) => line.trim())).toEqual([
    'a.test.ts > test 0: line 0',
    ...Array.from({ length: 11 }, (_, i) => `line ${i + 1}`),
    '…',
  ])
})
