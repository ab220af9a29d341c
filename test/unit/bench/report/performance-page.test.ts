import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Figure } from '../../../../bench/report/figures.ts'
import { table } from '../../../../bench/report/markdown.ts'
import { renderMeasured, withMeasured } from '../../../../bench/report/performance-page.ts'
import { renderResults, type Results, type RunNotes } from '../../../../bench/report/results.ts'

const FIGURE: Figure = {
  name: 'executed_jobs_per_second',
  unit: 'jobs/s',
  better: 'higher',
  punctual: { median: 30_000, min: 29_000, max: 31_000 },
  peers: { bullmq: { median: 10_000, min: 10_000, max: 10_000 } },
  ratio_to_best_peer: 3,
}
const RESULTS: Results = {
  machine: { cpu: 'Some CPU', cores: 2, memory_gib: 23.5, os: 'Linux 6.1', node: '26.1.0', redis: '7.0.15' },
  commit: 'abc1234',
  figures: [FIGURE],
}
const RUN: RunNotes = {
  command: 'make bench',
  finished_at: '2026-11-21T10:00:00.000Z',
  minutes: 12,
  runs: 5,
  settings: { 'jobs for memory': 100_000 },
  ceilings: [{ name: 'undici.dispatch', unit: 'calls/s', value: 74_000.4 }],
  paces: { own: { punctual: 5_000, bullmq: 2_000 }, equal: 2_000, slowest: 'bullmq' },
  breakdowns: [],
  peers: [{ name: 'bullmq', setup: 'on Redis', lacks: 'signed calls', better: 'runs any code' }],
  notes: ['nothing started early'],
  skipped: ['quirrel: no Node it supports'],
}

test('a table is aligned as the formatter wants it, and none without rows', () => {
  expect(table(['A', 'Long head'], [['wide cell', 'b'], ['c']])).toEqual([
    '| A         | Long head |',
    '| --------- | --------- |',
    '| wide cell | b         |',
    '| c         |           |',
  ])
  expect(table(['A'], [])).toEqual([])
})

describe('the measured part', () => {
  const text = renderMeasured(RESULTS, RUN)

  test('has machine, command and figures with their spread', () => {
    expect(text).toContain('at commit `abc1234` by `make bench` (5 runs, 12 min) on 2 × Some CPU')
    expect(text).toMatch(
      /\| `executed_jobs_per_second` \| jobs\/s \| 30,000 \(29,000–31,000\) \| bullmq: 10,000 \| 3\.00× \|/,
    )
  })

  test('says beside the figures what a peer lacks and where it is better', () => {
    expect(text).toMatch(/\| Peer +\| Set up +\| Lacks beside Punctual +\| Is better at +\|/)
    expect(text).toMatch(/\| bullmq +\| on Redis +\| signed calls +\| runs any code +\|/)
  })

  test('has ceilings, facts, and what is missing', () => {
    expect(text).toContain('| undici.dispatch | 74,000 calls/s |')
    expect(text).toContain('- nothing started early')
    expect(text).toContain('- quirrel: no Node it supports')
    expect(text).toContain('- `lost_jobs`: no value for Punctual')
  })

  test('replaces what stood between the marks and nothing else', () => {
    const page =
      '# P\n\n<!-- measured: begin (written by make bench) -->\nold\n<!-- measured: end -->\n\nrest\n'
    const once = withMeasured(page, 'new')
    expect(once).toBe(
      '# P\n\n<!-- measured: begin (written by make bench) -->\n\nnew\n<!-- measured: end -->\n\nrest\n',
    )
    expect(withMeasured(once, 'new')).toBe(once)
    expect(() => withMeasured('# P', 'new')).toThrow('lacks its marks')
  })
})

test('docs/performance.md shows the results of the last run; node bench/render-page.ts makes it so', () => {
  const root = join(import.meta.dirname, '../../../..')
  const read = (path: string): string => readFileSync(join(root, path), 'utf8')
  const results = JSON.parse(read('bench/results/latest.json')) as Results
  const run = JSON.parse(read('bench/results/run.json')) as RunNotes
  const page = read('docs/performance.md')
  expect(page).toBe(withMeasured(page, renderMeasured(results, run)))
})

test('results keep the shape that others read, one line a figure', () => {
  const text = renderResults(RESULTS)
  expect(JSON.parse(text)).toEqual(RESULTS)
  expect(Object.keys(JSON.parse(text) as object)).toEqual(['machine', 'commit', 'figures'])
  expect(text.split('\n').filter((line) => line.includes('"name"'))).toHaveLength(1)
})
