/** The threat table of SECURITY.md is whole, and the tests that it names are there. */
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const ROOT = new URL('../../', import.meta.url)
const THREATS = 30

const page = readFileSync(new URL('SECURITY.md', ROOT), 'utf8')
const rows = page
  .split('\n')
  .filter((line) => /^\| S\d/.test(line))
  .map((line) => {
    const [, id = '', threat = '', against = '', tests = ''] = line.split('|').map((cell) => cell.trim())
    return { id, threat, against, tests: [...tests.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name) }
  })

test('has every threat once, in order, with what stands against it', () => {
  const ids = Array.from({ length: THREATS }, (_, i) => `S${String(i + 1).padStart(2, '0')}`)
  expect(rows.map(({ id }) => id)).toEqual(ids)
  expect(rows.filter(({ threat, against }) => threat === '' || against === '')).toEqual([])
})

test.each(rows.map(({ id, tests }) => [id, tests] as const))(
  '%s has tests, and they are there',
  (_id, tests) => {
    expect(tests).not.toEqual([])
    expect(tests.filter((name) => !existsSync(new URL(`test/${name}.test.ts`, ROOT)))).toEqual([])
  },
)
