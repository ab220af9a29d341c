import { FIGURE_KINDS, type Figure } from './figures.ts'
import type { Results, RunNotes } from './results.ts'
import type { Spread } from './statistics.ts'

const BEGIN = '<!-- measured: begin (written by make bench) -->'
const END = '<!-- measured: end -->'

/** Puts the measured part between its marks; the text around it is written by hand and stays. */
export function withMeasured(page: string, measured: string): string {
  const start = page.indexOf(BEGIN)
  const end = page.indexOf(END)
  if (start === -1 || end < start) throw new Error(`The page lacks its marks: ${BEGIN} … ${END}`)
  return `${page.slice(0, start + BEGIN.length)}\n\n${measured}\n${page.slice(end)}`
}

/** The measured part of docs/performance.md. */
export function renderMeasured(results: Results, run: RunNotes): string {
  return [
    ...machineLines(results, run),
    '',
    ...figureTable(results.figures),
    '',
    'Median of the runs, with the least and the greatest in brackets. A ratio over 1 means that Punctual is better than the best peer, whichever direction is good.',
    ...section(
      'The peers',
      table(['Peer', 'Set up', 'Lacks beside Punctual', 'Is better at'], peerRows(run)),
    ),
    ...section('Ceilings', table(['Part alone', 'Per second'], ceilingRows(run))),
    ...section('Settings of this run', table(['Setting', 'Value'], settingRows(run))),
    ...section('Facts of this run', bullets(run.notes)),
    ...section('Not measured in this run', bullets([...run.skipped, ...missing(results.figures)])),
    '',
  ].join('\n')
}

function machineLines({ machine, commit }: Results, run: RunNotes): string[] {
  return [
    `Measured ${run.finished_at.slice(0, 10)} at commit \`${commit}\` by \`${run.command}\` (${run.runs} runs, ${run.minutes} min) on ${machine.cores} × ${machine.cpu}, ${machine.memory_gib} GiB, ${machine.os}, Node ${machine.node}, Redis ${machine.redis}. Everything shares these cores: contender, Redis, target and load.`,
  ]
}

function figureTable(figures: readonly Figure[]): string[] {
  const peers = [...new Set(figures.flatMap((figure) => Object.keys(figure.peers)))].sort()
  const rows = figures.map((figure) => [
    `\`${figure.name}\``,
    figure.unit,
    spreadText(figure.punctual),
    ...peers.map((peer) => spreadText(figure.peers[peer])),
    figure.ratio_to_best_peer === null ? '–' : `${figure.ratio_to_best_peer.toFixed(2)}×`,
  ])
  return table(['Figure', 'Unit', 'Punctual', ...peers, 'Ratio'], rows)
}

function spreadText(spread: Spread | undefined): string {
  if (spread === undefined) return '–'
  const { median, min, max } = spread
  return min === max ? numberText(median) : `${numberText(median)} (${numberText(min)}–${numberText(max)})`
}

function numberText(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 2 })
}

function peerRows(run: RunNotes): string[][] {
  return run.peers.map(({ name, setup, lacks, better }) => [name, setup, lacks, better])
}

function ceilingRows(run: RunNotes): string[][] {
  return run.ceilings.map(({ name, unit, value }) => [name, `${numberText(Math.round(value))} ${unit}`])
}

function settingRows(run: RunNotes): string[][] {
  return Object.entries(run.settings).map(([name, value]) => [
    name,
    typeof value === 'number' ? numberText(value) : value,
  ])
}

function missing(figures: readonly Figure[]): string[] {
  const known = new Set<string>(figures.map((figure) => figure.name))
  return FIGURE_KINDS.filter((kind) => !known.has(kind.name)).map(
    (kind) => `\`${kind.name}\`: no value for Punctual`,
  )
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `### ${title}`, '', ...lines]
}

function bullets(lines: readonly string[]): string[] {
  return lines.map((line) => `- ${line}`)
}

/** A Markdown table in the form the formatter keeps; no lines without rows. */
export function table(head: readonly string[], rows: ReadonlyArray<readonly string[]>): string[] {
  if (rows.length === 0) return []
  const widths = head.map((cell, column) =>
    Math.max(3, cell.length, ...rows.map((row) => (row[column] ?? '').length)),
  )
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)]
}
