import { table } from '../../../bench/report/markdown.ts'
import type { Figures } from '../checker/figures.ts'
import type { ScenarioResult } from '../results.ts'
import { PROMISES, type Promised } from './promises.ts'
import { ROWS, type Proof, type Row } from './rows.ts'

const HEAD = `# Reliability

<!-- Generated from test/faults by \`npm run generate\`: change the tables there, or run \`make faults\`. -->

This page lists what Punctual promises ([README](../README.md#what-it-promises-and-where-that-ends)), which faults try to break it, and what came of them the last time. \`make faults\` starts an API, executors and a Redis, alone, behind sentinels or as a Cluster, as processes. It pushes a mix of jobs at a fixed pace beside crons that tick each minute, and strikes. Some of the jobs run under a limit, some are delayed, some fail once or always and raise alerts, and some have a callback. Then one checker compares what the client was answered, what the target was called with, how each chain ended, which alerts and runs there are, and what is left in Redis.

- **Lost**: accepted with a 201, and gone, or not ended when all is at rest. **Told**: jobs that the program has said are lost, which is within 5 % of those, and 10 s after Redis is back. **Doubled**: calls of an attempt beyond its first; each fault allows at most one more of what it hits in flight. **Early**: calls before their due time. **Over the limit**: calls at once beyond \`max_parallelism\`. **Left behind**: what the inspection of \`punctual doctor\` finds at rest.
- **Gaps**: the longest time without a push accepted, and without a call. They hold the fault itself, such as a Redis that is away for a second, and the machine's other work; they are told and decide nothing.
`

/** The page, from the results kept in the repository. The same results give the same bytes. */
export function reliabilityPage(results: readonly ScenarioResult[]): string {
  return [
    HEAD,
    '## Promises\n',
    ...table(
      [
        'Promise',
        'Rows that try it',
        'Runs',
        'Accepted',
        'Lost',
        'Doubled',
        'Early',
        'Over the limit',
        'Longest gap',
        'Slowest refusal',
        'Further tests',
      ],
      PROMISES.map((one) => promiseRow(one, results)),
    ),
    '\n## Last runs\n',
    ...machines(results),
    ...table(
      [
        'Row',
        'Fault under load',
        'Result',
        'Accepted',
        'Lost',
        'Told',
        'Doubled',
        'Early',
        'Over the limit',
        'Left behind',
        'Refused',
        'No answer',
        'Slowest refusal',
        'Gap of pushes',
        'Gap of calls',
        'Commit',
      ],
      results.map(resultRow),
    ),
    '\n## Rows\n',
    ...table(
      ['Row', 'Fault', 'Under load', 'Tests', 'Not here'],
      ROWS.map((one) => matrixRow(one, results)),
    ),
    '',
  ].join('\n')
}

function promiseRow({ promise, rows, tests }: Promised, results: readonly ScenarioResult[]): string[] {
  const runs = results.filter(({ row }) => rows.includes(row))
  const figures = runs.flatMap((run) => run.figures ?? [])
  const sum = (name: keyof Figures) =>
    figures.length === 0 ? '–' : numberText(figures.reduce((total, one) => total + (one[name] ?? 0), 0))
  const gaps = figures.flatMap((one) => [one.longestPushGapMs, one.longestCallGapMs])
  const refusals = figures.flatMap(({ slowestRefusalMs }) => slowestRefusalMs ?? [])
  return [
    `**${promise}**`,
    rows.length === 0 ? 'no fault bears on it' : rows.join(' '),
    String(figures.length),
    sum('accepted'),
    sum('lost'),
    sum('doubled'),
    sum('early'),
    sum('overLimit'),
    gaps.length === 0 ? '–' : msText(Math.max(...gaps)),
    refusals.length === 0 ? '–' : msText(Math.max(...refusals)),
    proofs(tests),
  ]
}

function resultRow({ row, scenario, commit, figures, complaints }: ScenarioResult): string[] {
  const count = (name: keyof Figures) => numberText(figures?.[name] ?? null)
  return [
    row,
    scenario,
    complaints.length === 0 ? 'kept' : `**broken**: ${complaints.length} complaints`,
    count('accepted'),
    count('lost'),
    count('told'),
    count('doubled'),
    count('early'),
    count('overLimit'),
    count('leaked'),
    count('refused'),
    count('unanswered'),
    msText(figures?.slowestRefusalMs ?? null),
    msText(figures?.longestPushGapMs ?? null),
    msText(figures?.longestCallGapMs ?? null),
    `\`${commit}\``,
  ]
}

function matrixRow({ row, fault, tests, note }: Row, results: readonly ScenarioResult[]): string[] {
  const under = results.filter((one) => one.row === row).length
  return [row, fault, under === 0 ? '–' : String(under), proofs(tests), note ?? '']
}

function machines(results: readonly ScenarioResult[]): string[] {
  const runs = Map.groupBy(results, ({ machine, ranOn }) => `${ranOn} on ${machine}`)
  return [...runs].map(([where, { length }]) => `${length} on ${where}; everything shares its cores.\n`)
}

function proofs(tests: readonly Proof[]): string {
  const files = [...new Set(tests.map(({ file }) => file))]
  return files
    .map((file) => `[${file.replace(/^.*\//, '').replace(/(\.test)?\.ts$/, '')}](../${file})`)
    .join(', ')
}

function numberText(value: number | null): string {
  return value === null ? '–' : value.toLocaleString('en-US')
}

function msText(value: number | null): string {
  return value === null ? '–' : `${numberText(value)} ms`
}
