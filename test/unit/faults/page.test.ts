import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PROMISES } from '../../faults/page/promises.ts'
import { ROWS } from '../../faults/page/rows.ts'
import { readResults } from '../../faults/results.ts'
import { SCENARIOS } from '../../faults/scenarios/all.ts'
import { chosenScenarios, ofToday } from '../../faults/scenarios/choice.ts'

const ROOT = join(import.meta.dirname, '../../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

test('every promise of the README is tried by rows, and every row is one of the matrix', () => {
  const [, section = ''] = read('README.md').split('## What it promises, and where that ends')
  const promises = [...section.matchAll(/^- \*\*(.+)\.\*\* /gm)].map(([, promise]) => promise)
  expect(PROMISES.map(({ promise }) => promise)).toEqual(promises)
  const rows = ROWS.map(({ row }) => row)
  expect(rows).toEqual(Array.from({ length: 36 }, (_, at) => `F${String(at + 1).padStart(2, '0')}`))
  const named = [...PROMISES.flatMap((one) => one.rows), ...SCENARIOS.map(({ row }) => row)]
  expect(named.filter((row) => !rows.includes(row))).toEqual([])
})

test('every test that the tables name is there', () => {
  const proofs = [...ROWS, ...PROMISES].flatMap(({ tests }) => tests)
  const isThere = (file: string) => existsSync(join(ROOT, file)) && statSync(join(ROOT, file)).isFile()
  const missing = proofs.filter(({ file, title }) => !isThere(file) || !read(file).includes(title))
  expect(missing).toEqual([])
})

test('every scenario has a name of its own, and results in the repository are of scenarios', () => {
  const names = SCENARIOS.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  const known = readResults().map(({ scenario }) => scenario)
  expect(known).toEqual(names.filter((name) => known.includes(name)))
  expect(known.length).toBeGreaterThan(0)
})

test('a row is chosen by its name, and every cheap scenario has its day', () => {
  expect(chosenScenarios(SCENARIOS, 'F09').every(({ row }) => row === 'F09')).toBe(true)
  expect(chosenScenarios(SCENARIOS, '')).toEqual(SCENARIOS)
  expect(chosenScenarios(SCENARIOS, 'F11', 'as planned (replicated)')).toHaveLength(1)
  expect(() => chosenScenarios(SCENARIOS, 'F11', 'F99')).toThrow('NAME is F99; there are "')
  expect(() => chosenScenarios(SCENARIOS, 'F99')).toThrow('ROW is F99; there are scenarios for')
  const cheap = SCENARIOS.filter(({ isCheap }) => isCheap)
  const days = cheap.map((_, day) => ofToday(SCENARIOS, new Date(day * 86_400_000)))
  expect(new Set(days.flat())).toEqual(new Set(cheap))
  expect(days.every(({ length }) => length <= 2)).toBe(true)
})
