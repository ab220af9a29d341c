import type { Spread } from './statistics.ts'

export function numberText(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 2 })
}

/** The median, and the least and the greatest if they differ. */
export function spreadText(spread: Spread | undefined): string {
  if (spread === undefined) return '–'
  const { median, min, max } = spread
  return min === max ? numberText(median) : `${numberText(median)} (${numberText(min)}–${numberText(max)})`
}

export function bullets(lines: readonly string[]): string[] {
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
