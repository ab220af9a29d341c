const CLUSTERS = new Intl.Segmenter('en', { granularity: 'grapheme' })
/** Letters that take two columns of a terminal: East Asian ones, their punctuation, full-width forms and emoji. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Yi}\u3000-\u303e\u30a0-\u30ff\u31f0-\u31ff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\p{Emoji_Presentation}\ufe0f]/u
/** Letters that take none alone, such as accents that are written after their letter. */
const WIDTHLESS = /^[\p{Mn}\p{Me}\p{Cf}\p{Default_Ignorable_Code_Point}]+$/u
// oxlint-disable-next-line no-control-regex
const ASCII = /^[\u0000-\u007f]*$/

/** How many columns of a terminal a text takes. */
export function textWidth(text: string): number {
  if (ASCII.test(text)) return text.length
  let width = 0
  for (const { segment } of CLUSTERS.segment(text)) width += clusterWidth(segment)
  return width
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
    used += clusterWidth(segment)
    if (used > width) break
    kept += segment
  }
  return `${kept}…`
}

function clusterWidth(cluster: string): number {
  if (WIDE.test(cluster)) return 2
  return WIDTHLESS.test(cluster) ? 0 : 1
}
