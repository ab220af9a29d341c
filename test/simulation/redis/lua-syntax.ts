export interface Token {
  readonly kind: 'name' | 'number' | 'string' | 'symbol' | 'keyword' | 'end'
  readonly text: string
  readonly line: number
}

const KEYWORDS = new Set(
  'and break do else elseif end false for function if in local nil not or return then true while'.split(' '),
)
const TOKEN =
  /\s+|--[^\n]*|([A-Za-z_]\w*)|(\d+(?:\.\d+)?)|('(?:[^'\\\n]|\\.)*')|(\.\.\.|\.\.|==|~=|<=|>=|[-+*/%#<>=(){}[\];,.])/y

/** The JavaScript of each comparison. */
export const COMPARISONS = new Map([
  ['==', (a: string, b: string) => `(${a} === ${b})`],
  ['~=', (a: string, b: string) => `(${a} !== ${b})`],
  ['<', (a: string, b: string) => `lt(${a}, ${b})`],
  ['<=', (a: string, b: string) => `le(${a}, ${b})`],
  ['>', (a: string, b: string) => `lt(${b}, ${a})`],
  ['>=', (a: string, b: string) => `le(${b}, ${a})`],
])
/** Global names that the runtime provides. */
export const GLOBALS = new Set([
  'string',
  'table',
  'math',
  'ipairs',
  'pairs',
  'tonumber',
  'tostring',
  'unpack',
  'pcall',
  'type',
])

export function tokenize(source: string): Token[] {
  const tokens: Token[] = []
  let line = 1
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < source.length) {
    const at = TOKEN.lastIndex
    const match = TOKEN.exec(source)
    if (match === null) throw new Error(`line ${line}: cannot read ${source.slice(at, at + 20)}`)
    const [text, name, number, string, symbol] = match
    if (name !== undefined) tokens.push({ kind: KEYWORDS.has(name) ? 'keyword' : 'name', text, line })
    else if (number !== undefined) tokens.push({ kind: 'number', text, line })
    else if (string !== undefined) tokens.push({ kind: 'string', text, line })
    else if (symbol !== undefined) tokens.push({ kind: 'symbol', text, line })
    line += text.split('\n').length - 1
  }
  tokens.push({ kind: 'end', text: 'end of file', line })
  return tokens
}
