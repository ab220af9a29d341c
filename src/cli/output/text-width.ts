import { createRequire } from 'node:module'
import type stringWidth from 'string-width'

const require = createRequire(import.meta.url)
const CLUSTERS = new Intl.Segmenter('en', { granularity: 'grapheme' })
// oxlint-disable-next-line no-control-regex
const ASCII = /^[\u0000-\u007f]*$/

let measure: typeof stringWidth | null = null

/** How many columns of a terminal a text takes. */
export function textWidth(text: string): number {
  if (ASCII.test(text)) return text.length
  // Loaded here alone: that takes 50 ms of CPU, a quarter of what a verb takes, and most tables are ASCII.
  measure ??= (require('string-width') as { readonly default: typeof stringWidth }).default
  return measure(text)
}

/** Fills a text with spaces up to a width. */
export function padded(text: string, width: number): string {
  return `${text}${' '.repeat(Math.max(0, width - textWidth(text)))}`
}

/** The beginning of a text that is wider than this, with `…` at its end; another text as it is. */
export function shortened(text: string, width: number): string {
  if (textWidth(text) <= width) return text
  let kept = ''
  let used = 1
  for (const { segment } of CLUSTERS.segment(text)) {
    used += textWidth(segment)
    if (used > width) break
    kept += segment
  }
  return `${kept}…`
}
