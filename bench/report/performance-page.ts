import { breakdownLines } from './breakdown-table.ts'
import { FIGURE_KINDS, type Figure } from './figures.ts'
import { latenessLines } from './lateness-table.ts'
import { bullets, numberText, spreadText, table } from './markdown.ts'
import { peerAdvantages } from './peer-advantages.ts'
import type { Results, RunNotes } from './results.ts'

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
  const { figures } = results
  return [
    ...machineLines(results, run),
    '',
    ...figureTable(figures),
    '',
    'Median of the runs, with the least and the greatest in brackets. A ratio over 1 means that Punctual is better than the best peer, whichever direction is good.',
    ...section('Where a peer was better', advantageLines(figures)),
    ...section('Every contender', contenderTable(figures)),
    ...section(
      'The peers',
      table(['Peer', 'Set up', 'Lacks beside Punctual', 'Is better at'], peerRows(run)),
    ),
    ...section('Lateness', latenessLines(figures, run.paces)),
    ...section('Where the CPU goes', breakdownLines(run.breakdowns)),
    ...section('Ceilings', table(['Part alone', 'Per second'], ceilingRows(run))),
    ...section('Settings of this run', table(['Setting', 'Value'], settingRows(run))),
    ...section('Facts of this run', bullets(run.notes)),
    ...section('Not measured in this run', bullets([...run.skipped, ...missing(figures)])),
    '',
  ].join('\n')
}

function machineLines({ machine, commit }: Results, run: RunNotes): string[] {
  return [
    `Measured ${run.finished_at.slice(0, 10)} at commit \`${commit}\` by \`${run.command}\` (${run.runs} runs, ${run.minutes} min) on ${machine.cores} × ${machine.cpu}, ${machine.memory_gib} GiB, ${machine.os}, Node ${machine.node}, Redis ${machine.redis}. Everything shares these cores: contender, Redis, target and load.`,
  ]
}

function figureTable(figures: readonly Figure[]): string[] {
  const rows = figures.map((figure) => [
    `\`${figure.name}\``,
    figure.unit,
    spreadText(figure.punctual),
    bestPeerText(figure),
    figure.ratio_to_best_peer === null ? '–' : `${figure.ratio_to_best_peer.toFixed(2)}×`,
  ])
  return table(['Figure', 'Unit', 'Punctual', 'Best peer', 'Ratio'], rows)
}

function bestPeerText({ better, peers }: Figure): string {
  const sign = better === 'higher' ? -1 : 1
  const best = Object.entries(peers).toSorted(([, a], [, b]) => sign * (a.median - b.median))[0]
  return best === undefined ? '–' : `${best[0]}: ${spreadText(best[1])}`
}

function advantageLines(figures: readonly Figure[]): string[] {
  if (figures.every(({ ratio_to_best_peer: ratio }) => ratio === null)) return []
  const found = peerAdvantages(figures)
  return found.length === 0 ? ['No peer was better in any figure of this run.'] : bullets(found)
}

/** Figures are rows, because there are more of them. */
function contenderTable(figures: readonly Figure[]): string[] {
  const peers = [...new Set(figures.flatMap((figure) => Object.keys(figure.peers)))].sort()
  if (peers.length === 0) return []
  const rows = figures.map((figure) => [
    `\`${figure.name}\``,
    spreadText(figure.punctual),
    ...peers.map((peer) => spreadText(figure.peers[peer])),
  ])
  return table(['Figure', 'Punctual', ...peers], rows)
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
