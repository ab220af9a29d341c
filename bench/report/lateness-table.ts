import type { Paces } from '../load/paces.ts'
import { PUNCTUAL, type Figure, type FigureName } from './figures.ts'
import { numberText, spreadText, table } from './markdown.ts'

const COLUMNS: readonly FigureName[] = [
  'lateness_equal_p50_ms',
  'lateness_equal_p99_ms',
  'lateness_p50_ms',
  'lateness_p99_ms',
]

/** Both rates side by side, with the median and the 99th percentile of each. */
export function latenessLines(figures: readonly Figure[], paces: Paces | null): string[] {
  if (paces === null) return []
  const { own, equal, slowest } = paces
  const found = COLUMNS.map((name) => figures.find((figure) => figure.name === name))
  const spreadOf = (figure: Figure | undefined, name: string) =>
    name === PUNCTUAL ? figure?.punctual : figure?.peers[name]
  const rows = Object.entries(own)
    .filter(([name]) => found.some((figure) => spreadOf(figure, name) !== undefined))
    .map(([name, rate]) => {
      const [equalP50, equalP99, p50, p99] = found.map((figure) => spreadText(spreadOf(figure, name)))
      return [name, equalP50 ?? '', equalP99 ?? '', numberText(rate), p50 ?? '', p99 ?? '']
    })
  if (rows.length === 0) return []
  const atEqual = `at ${numberText(equal)} jobs/s`
  const head = ['ms', `p50 ${atEqual}`, `p99 ${atEqual}`, 'own rate, jobs/s', 'p50 at it', 'p99 at it']
  return [
    `The equal rate is half of what the slowest contender, ${slowest}, does end to end in this run; the own rate is half of what the contender itself does.`,
    '',
    ...table(head, rows),
  ]
}
