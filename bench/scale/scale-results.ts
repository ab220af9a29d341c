import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Machine } from '../report/results.ts'
import { table } from '../report/markdown.ts'
import type { Measurement } from './measurement.ts'

const BEGIN = '<!-- scale: begin (written by bench/scale.ts) -->'
const END = '<!-- scale: end -->'

/** @property of where and when it was measured */
export interface ScaleResult extends Measurement {
  readonly of: { readonly commit: string; readonly finished_at: string; readonly machine: Machine }
}

export function readResults(path: string): ScaleResult[] {
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as ScaleResult)
}

/** The results of a scenario in place of its earlier ones; those of others stay. */
export function withResults(earlier: readonly ScaleResult[], now: readonly ScaleResult[]): ScaleResult[] {
  const replaced = new Set(now.map(({ scenario }) => scenario))
  const all = [...earlier.filter(({ scenario }) => !replaced.has(scenario)), ...now]
  return all.toSorted((a, b) => a.scenario.localeCompare(b.scenario, 'en'))
}

export function writeResults(path: string, results: readonly ScaleResult[]): void {
  writeFileSync(path, results.map((result) => `${JSON.stringify(result)}\n`).join(''))
}

/** Puts the table between its marks in the page. */
export function withScaleTable(page: string, results: readonly ScaleResult[]): string {
  const [start, end] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (start === -1 || end < start) throw new Error(`The page lacks its marks: ${BEGIN} … ${END}`)
  const lines = renderScaleTable(results).join('\n')
  return `${page.slice(0, start + BEGIN.length)}\n\n${lines}\n\n${page.slice(end)}`
}

function renderScaleTable(results: readonly ScaleResult[]): string[] {
  const rows = results.map(({ scenario, size, figure, unit, value, goal, of }) => [
    `\`${scenario} ${size}\``,
    figure,
    unit,
    goal === null ? '' : numberText(goal),
    numberText(value),
    `\`${of.commit}\``,
  ])
  return table(['Of', 'What', 'Unit', 'At most', 'Measured', 'Commit'], rows)
}

function numberText(value: number): string {
  const digits = Math.abs(value) < 10 ? 2 : 1
  return value.toLocaleString('en-US', { maximumFractionDigits: Math.abs(value) < 100 ? digits : 0 })
}
