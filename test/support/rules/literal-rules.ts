import { isNode, lineCounter, nodesOf, walk, type Node } from './syntax.ts'

const FUNCTION_LINES_MAX = 60
const FUNCTIONS: ReadonlySet<string> = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
])
const LITERALS: ReadonlySet<string> = new Set(['ObjectExpression', 'ArrayExpression', 'TSTupleType'])
/** What a spread is called in an expression, in a tuple type and among the attributes of JSX. */
const SPREADS: ReadonlySet<string> = new Set(['SpreadElement', 'TSRestType', 'JSXSpreadAttribute'])
/** Most files hold nothing like it and need not be parsed. */
const MAYBE_SPREAD_LITERAL = /\.\.\.[\s(]*[[{]/

/**
 * Literals that are spread where their elements could stand: `{ ...{ a, b } }`, `[...([a] as const)]`,
 * `<Input {...{ a }} />`. Such a spread packs several lines into one, past the rules of size.
 */
export function spreadLiterals(path: string, text: string): string[] {
  if (!MAYBE_SPREAD_LITERAL.test(text)) return []
  const lineAt = lineCounter(text)
  return nodesOf(path, text)
    .filter((node) => SPREADS.has(node.type) && LITERALS.has(spreadIn(node)?.type ?? ''))
    .map((node) => `${path}: line ${lineAt(node.start)} spreads a literal: write its elements out`)
}

/**
 * Functions that are too long. A literal that holds no function counts as one line: it is a table, and a long table is
 * no harder to read than a short one.
 */
export function longFunctions(text: string, nodes: readonly Node[]): string[] {
  const lineAt = lineCounter(text)
  const linesOf = ({ start, end }: Node): number[] => {
    const first = lineAt(start)
    return Array.from({ length: lineAt(end) - first + 1 }, (_, at) => first + at)
  }
  const tableLines = new Set(nodes.filter(isTable).flatMap((node) => linesOf(node).slice(1)))
  return nodes
    .filter((node) => FUNCTIONS.has(node.type))
    .flatMap((node) => {
      const lines = linesOf(node)
      const length = lines.filter((line) => !tableLines.has(line)).length
      return length > FUNCTION_LINES_MAX
        ? [`the function in line ${lines[0]} has ${length} lines, more than ${FUNCTION_LINES_MAX}`]
        : []
    })
}

function isTable(node: Node): boolean {
  return LITERALS.has(node.type) && walk(node).every(({ type }) => !FUNCTIONS.has(type))
}

/** What is spread, without the parentheses and the `as const` around it. */
function spreadIn({ argument, typeAnnotation }: Node): Node | null {
  let inner = argument ?? typeAnnotation
  while (isNode(inner) && (inner.type === 'ParenthesizedExpression' || isConst(inner)))
    inner = inner.expression
  return isNode(inner) ? inner : null
}

/** A cast to another type has a use: it cannot be written on the elements. */
function isConst({ type, typeAnnotation }: Node): boolean {
  if (type !== 'TSAsExpression' || !isNode(typeAnnotation) || !isNode(typeAnnotation.typeName)) return false
  return typeAnnotation.typeName.name === 'const'
}
