/**
 * JSON as its source text, which keeps what parsing changes: the digits of numbers, the order of fields, repeated names.
 * Only for text that `JSON.parse` takes.
 */

/** Strings as they are, signs, and what lies between them without white space. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/gs

/** With line breaks and indents; null for what is no JSON object or array. */
export function indentJson(text: string): string | null {
  if (!isContainer(text)) return null
  let indent = ''
  let out = ''
  const tokens = text.match(TOKENS) ?? []
  for (const [at, token] of tokens.entries()) {
    if (token === '{' || token === '[') {
      const isEmpty = /[}\]]/.test(tokens[at + 1] ?? '')
      indent += '  '
      out += isEmpty ? token : `${token}\n${indent}`
    } else if (token === '}' || token === ']') {
      indent = indent.slice(2)
      out += /^[{[]$/.test(tokens[at - 1] ?? '') ? token : `\n${indent}${token}`
    } else if (token === ',') out += `,\n${indent}`
    else out += token === ':' ? ': ' : token
  }
  return out
}

/** The source text of a field of an object, the last one of its name; null when there is none. */
export function memberOf(text: string, name: string): string | null {
  let depth = 0
  let [key, from, found] = ['', -1, null as string | null]
  let before = ''
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    if (depth === 1 && token === ':') [key, from] = [JSON.parse(before) as string, index + 1]
    const isEnd = depth === 1 && (token === ',' || token === '}')
    if (isEnd && from !== -1) {
      if (key === name) found = text.slice(from, index).trim()
      from = -1
    }
    if (token === '{' || token === '[') depth += 1
    if (token === '}' || token === ']') depth -= 1
    before = token
  }
  return found
}

function isContainer(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null
  } catch {
    return false
  }
}
