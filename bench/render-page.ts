/** Writes the measured part of docs/performance.md again from bench/results, for when only its form has changed. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { renderMeasured, withMeasured } from './report/performance-page.ts'
import type { Results, RunNotes } from './report/results.ts'

const PAGE = join(import.meta.dirname, '../docs/performance.md')

const results = readResult('latest.json') as Results
const notes = readResult('run.json') as RunNotes
writeFileSync(PAGE, withMeasured(readFileSync(PAGE, 'utf8'), renderMeasured(results, notes)))

function readResult(name: string): unknown {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'results', name), 'utf8'))
}
