import { padded, shortened, textWidth } from './text-width.ts'

/** Between two columns. */
const GAP = '  '
/** No column is shortened below this. */
const COLUMN_WIDTH_MIN = 12
/** Figures and times stay whole: their beginning alone would mislead. */
const FIGURE = /^(?:[-\d.:TZ+ ]*|[\d.]+ (?:ms|s))$/

export interface TableWidth {
  /** Of the terminal; null = as wide as its cells. */
  readonly max: number | null
  /** The column that says most, which is shortened last. */
  readonly main?: number | undefined
}

/**
 * Aligns cells, so that each column is as wide as its widest cell, and shortens the widest ones where a line would not
 * fit. Control characters and line ends in cells are escaped.
 */
export function columns(
  rows: readonly (readonly string[])[],
  { max, main }: TableWidth = { max: null },
): string {
  const cells = rows.map((row) => row.map(printableCell))
  const widths = widthsOf(cells)
  if (max !== null) fit(widths, { room: max - GAP.length * (widths.length - 1), main, rows: cells.slice(1) })
  return cells
    .map((row) =>
      row
        .map((cell, index) => padded(shortened(cell, widths[index] ?? 0), widths[index] ?? 0))
        .join(GAP)
        .trimEnd(),
    )
    .join('\n')
}

function widthsOf(rows: readonly (readonly string[])[]): number[] {
  const widths: number[] = []
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, textWidth(cell))
  }
  return widths
}

interface Fit {
  readonly room: number
  readonly main: number | undefined
  /** Without the heads. */
  readonly rows: readonly (readonly string[])[]
}

/** Takes what does not fit off the widest columns, and off the main one only what the others cannot give. */
function fit(widths: number[], { room, main, rows }: Fit): void {
  const shrinking = [...widths.keys()].filter((index) => rows.some((row) => !FIGURE.test(row[index] ?? '')))
  const others = shrinking.filter((index) => index !== main)
  const isMainOne = main !== undefined && shrinking.includes(main)
  let excess = widths.reduce((sum, width) => sum + width, 0) - room
  excess = shrink(widths, others, excess)
  if (isMainOne) shrink(widths, [main], excess)
}

/** @returns what is still too much */
function shrink(widths: number[], indexes: readonly number[], excess: number): number {
  let left = excess
  while (left > 0) {
    const widest = indexes.reduce<number | null>(
      (best, index) => (best === null || (widths[index] ?? 0) > (widths[best] ?? 0) ? index : best),
      null,
    )
    const width = widest === null ? 0 : (widths[widest] ?? 0)
    if (widest === null || width <= COLUMN_WIDTH_MIN) return left
    widths[widest] = width - 1
    left -= 1
  }
  return left
}

/**
 * Cuts a time to the second, such as `2026-11-21T10:00:00Z`, which options take as well. Other texts stay as they are.
 */
export function shortTime(text: string): string {
  return text.replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d{3}\+00:00$/, '$1Z')
}

/** Escapes control characters, such as `\x1b`, because what a target sent must not control the terminal. */
export function withoutControls(text: string): string {
  return text.replaceAll(
    // oxlint-disable-next-line no-control-regex
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g,
    (character) => `\\x${hexOf(character, 2)}`,
  )
}

/** Escapes control characters, and as `\u202e` those that would reorder a line or hide in it. */
export function printable(text: string): string {
  return withoutControls(text).replaceAll(HIDING, (character) => `\\u${hexOf(character, 4)}`)
}

/** Marks of direction, spaces without width, ends of line and paragraph, tags, and halves of characters. */
const HIDING = /[\p{Bidi_Control}\u200b\u2060-\u2064\ufeff\p{Zl}\p{Zp}\u{e0000}-\u{e007f}\p{Cs}]/gu

/** As `printable`, of a text that has to stay on its line. */
function printableCell(text: string): string {
  return printable(text.replaceAll('\n', '\\n').replaceAll('\t', '\\t'))
}

function hexOf(character: string, digits: number): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(digits, '0')
}
