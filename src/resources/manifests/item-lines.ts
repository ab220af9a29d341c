import { isNode, isSeq, type Document } from 'yaml'

/** The lines of one item of a list in block style, in the text of a file. */
export interface ItemLines {
  /** Where the line of its `-` begins. */
  readonly start: number
  /** Behind its last line. The blank lines and comments between it and the next item do not belong to it. */
  readonly end: number
  /** How far its `-` is indented. */
  readonly indent: number
}

/**
 * Finds the lines of an item. To write the whole document again would move the comments between items into them.
 * @param item its number, from 1
 * @returns null when the list is in flow style, or there is no such item
 */
export function linesOfItem(text: string, document: Document, item: number): ItemLines | null {
  const items: unknown = document.get('items', true)
  if (!isSeq(items) || items.flow === true || !items.range) return null
  const indent = items.range[0] - lineStart(text, items.range[0])
  const start = startOf(text, items.items[item - 1], indent)
  if (start === null) return null
  const next = startOf(text, items.items[item], indent) ?? items.range[2]
  return { start, end: contentEnd(text, { start, end: next, indent }), indent }
}

/** Answers where the comment lines directly above an item begin, or else the item. */
export function startWithComments(text: string, { start, indent }: ItemLines): number {
  let at = start
  for (;;) {
    const above = lineStart(text, at - 1)
    if (!isCommentLine(text.slice(above, at), indent)) return at
    at = above
  }
}

/** An item may begin below its `-`, after comments. */
function startOf(text: string, node: unknown, indent: number): number | null {
  if (!isNode(node) || !node.range) return null
  for (let at = lineStart(text, node.range[0]); ; at = lineStart(text, at - 1)) {
    if (text[at + indent] === '-' && text.slice(at, at + indent).trim() === '') return at
    if (at === 0) return null
  }
}

function contentEnd(text: string, { start, end, indent }: ItemLines): number {
  let at = end
  for (;;) {
    const above = lineStart(text, at - 1)
    const line = text.slice(above, at)
    if (above <= start || (line.trim() !== '' && !isCommentLine(line, indent))) return at
    at = above
  }
}

/** A comment that is indented further belongs to what stands above it. */
function isCommentLine(line: string, indent: number): boolean {
  const words = line.trimStart()
  return words.startsWith('#') && line.length - words.length <= indent
}

function lineStart(text: string, at: number): number {
  // From a negative position on, the search would begin at 0.
  return at <= 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1
}
