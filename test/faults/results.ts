import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Figures } from './checker/figures.ts'

/** What the last run of a scenario came to: an entry of `results.json`. */
export interface ScenarioResult {
  readonly row: string
  readonly scenario: string
  readonly seed: number
  readonly commit: string
  /** Such as `2026-11-29`. */
  readonly ranOn: string
  readonly machine: string
  readonly seconds: number
  /** null: it broke off. */
  readonly figures: Figures | null
  readonly complaints: readonly string[]
}

const FILE = join(import.meta.dirname, 'results.json')

export function readResults(): ScenarioResult[] {
  return existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as ScenarioResult[]) : []
}

/** Puts new results in the place of earlier ones. @param names of all scenarios in order; others are dropped */
export function keepResults(results: readonly ScenarioResult[], names: readonly string[]): void {
  const byName = new Map([...readResults(), ...results].map((result) => [result.scenario, result]))
  const kept = names.flatMap((name) => byName.get(name) ?? [])
  // One line a result, so that a change of one shows as one line.
  writeFileSync(FILE, `[\n${kept.map((result) => `  ${JSON.stringify(result)}`).join(',\n')}\n]\n`)
}
