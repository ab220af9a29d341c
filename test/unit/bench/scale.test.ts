import { expect, test } from 'vitest'
import { CountedCalls } from '../../../bench/scale/counted-calls.ts'
import { quantile } from '../../../bench/scale/measurement.ts'
import { withResults, withScaleTable, type ScaleResult } from '../../../bench/scale/scale-results.ts'

const machine = { cpu: 'a CPU', cores: 2, memory_gib: 24, os: 'Linux', node: '26', redis: '7' }

function result(scenario: string, value: number, goal: number | null = null): ScaleResult {
  const of = { commit: 'abc1234', finished_at: '2026-11-24T00:00:00Z', machine }
  return { scenario, size: 10, figure: 'a figure', unit: 'ms', value, goal, of }
}

test('counts the most calls that were open at once for one path', () => {
  const calls = new CountedCalls()
  for (const path of ['/a', '/a', '/b']) calls.begin(path)
  calls.end('/a')
  calls.begin('/a')
  expect(calls.state()).toEqual({ ended: 1, most: 2, full: 1 })
  calls.begin('/b')
  calls.begin('/a')
  expect(calls.state()).toEqual({ ended: 1, most: 3, full: 1 })
  for (const path of ['/a', '/a', '/a']) calls.end(path)
  calls.begin('/a')
  expect(calls.state()).toEqual({ ended: 4, most: 3, full: 1 })
})

test('a scenario that is measured again replaces its earlier results alone', () => {
  const earlier = [result('delayed', 1), result('pending', 2), result('pending', 3)]
  const all = withResults(earlier, [result('pending', 4)])
  expect(all.map(({ scenario, value }) => [scenario, value])).toEqual([
    ['delayed', 1],
    ['pending', 4],
  ])
})

test('the page keeps what is around the table', () => {
  const marks = '<!-- scale: begin (written by bench/scale.ts) -->\n\nold\n\n<!-- scale: end -->'
  const page = withScaleTable(`before\n\n${marks}\n\nafter\n`, [result('pending', 1234.56, 1.5)])
  expect(page).toMatch(/^before\n\n<!-- scale: begin/)
  expect(page).toContain('| `pending 10` | a figure | ms')
  expect(page).toMatch(/\| 1\.5 +\| 1,235 +\| `abc1234` \|/)
  expect(page).not.toContain('old')
  expect(page).toMatch(/<!-- scale: end -->\n\nafter\n$/)
  expect(() => withScaleTable('no marks', [])).toThrow('lacks its marks')
})

test('answers the value that so large a share lies below', () => {
  const values = Array.from({ length: 100 }, (_, i) => 100 - i)
  expect([quantile(values, 0.5), quantile(values, 0.99), quantile([], 0.5)]).toEqual([51, 100, 0])
})
