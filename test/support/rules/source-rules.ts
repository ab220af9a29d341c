import { posix } from 'node:path'
import { parseAst } from 'vitest/node'
import { COMPOSITION_ROOTS, MAY_IMPORT, PACKAGES_ALLOWED, WITHOUT_CLOCK } from './layers.ts'

/** The client package, which the verbs of the command line use. */
const CLIENT_SOURCES = 'clients/typescript/src/'
const FILE_LINES_MAX = 400
const FUNCTION_LINES_MAX = 60
const NAMES_BANNED = /^(?:utils?|common|helpers?|misc|managers?|services?|types|interfaces|index)$/
/** controller-runtime's word for what starts all controllers of a process. */
const NAMES_ALLOWED: ReadonlySet<string> = new Set(['src/controller/manager.ts'])
const FUNCTIONS: ReadonlySet<string> = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
])
const RE_EXPORTS: ReadonlySet<string> = new Set(['ExportAllDeclaration', 'ExportNamedDeclaration'])
const AMBIENT = /^(?:Date\.now|Math\.random|performance\.now|crypto\.randomUUID|crypto\.getRandomValues)$/

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [property: string]: unknown
}

interface Scan {
  /** In sentences. */
  readonly violations: readonly string[]
  /** Files of the project that the file imports, including its types. */
  readonly imports: readonly string[]
}

/** Reads a TypeScript or Lua file of src/. @param path such as `src/api/answers.ts` */
export function scan(path: string, text: string): Scan {
  if (path.endsWith('.lua')) {
    const includes = text.matchAll(/^--#include ([\w/]+)$/gm)
    return { violations: [], imports: [...includes].map(([, include]) => `src/redis/${include}.lua`) }
  }
  const program = parseAst(text, { lang: 'ts' }) as unknown as Node
  const nodes = [...walk(program)]
  const isGenerated = path.includes('/generated/')
  const violations = [
    ...nameViolations(path),
    ...importViolations(path, nodes),
    ...settingsViolations(path, nodes),
    ...(isGenerated ? [] : [...sizeViolations(text, nodes), ...exportViolations(path, program, nodes)]),
  ].map((problem) => `${path}: ${problem}`)
  const imports = nodes.flatMap((node) => {
    const specifier = specifierOf(node)
    return specifier?.startsWith('.') ? [posix.join(posix.dirname(path), specifier)] : []
  })
  return { violations, imports }
}

function nameViolations(path: string): string[] {
  if (NAMES_ALLOWED.has(path)) return []
  const words = path.replace(/\.ts$/, '').split(/[/.-]/)
  return words
    .filter((word) => NAMES_BANNED.test(word))
    .map((word) => `"${word}" says nothing: name the responsibility`)
}

function importViolations(path: string, nodes: readonly Node[]): string[] {
  const folder = folderOf(path)
  const isKnown = folder === 'main.ts' || COMPOSITION_ROOTS.includes(folder) || folder in MAY_IMPORT
  if (!isKnown) return [`folder "${folder}" is not in the import table`]
  return nodes.flatMap((node) => {
    const specifier = specifierOf(node)
    if (specifier === null) return []
    return specifier.startsWith('.')
      ? relativeImportViolations(path, folder, specifier)
      : packageImportViolations(folder, node, specifier)
  })
}

function relativeImportViolations(path: string, folder: string, specifier: string): string[] {
  const target = posix.join(posix.dirname(path), specifier)
  if (folder === 'cli' && target.startsWith(CLIENT_SOURCES)) return []
  if (!target.startsWith('src/')) return [`import of ${specifier} leaves src/`]
  if (!/\.(?:ts|json)$/.test(target)) return [`import of ${specifier} lacks its .ts`]
  const targetFolder = folderOf(target)
  if (COMPOSITION_ROOTS.includes(folder) || targetFolder === folder) return []
  const allowed = folder === 'main.ts' ? COMPOSITION_ROOTS : (MAY_IMPORT[folder] ?? [])
  return allowed.includes(targetFolder) ? [] : [`${folder} may not import ${targetFolder} (${specifier})`]
}

function packageImportViolations(folder: string, node: Node, specifier: string): string[] {
  const packages = PACKAGES_ALLOWED[folder]
  if (packages === undefined) return []
  const names = packages[specifier]
  if (names === undefined) return [`${folder} may not import the package ${specifier}`]
  if (names === 'all') return []
  return importedNames(node)
    .filter((name) => !names.includes(name))
    .map((name) => `${folder} may not import ${name} of ${specifier}`)
}

/** Names an import takes; `*` stands for a whole module. */
function importedNames(node: Node): string[] {
  if (!Array.isArray(node.specifiers)) return ['*']
  return (node.specifiers as readonly Node[]).map((one) =>
    isNode(one.imported) ? String(one.imported.name) : '*',
  )
}

function settingsViolations(path: string, nodes: readonly Node[]): string[] {
  const folder = folderOf(path)
  return nodes.flatMap((node) => {
    const member = memberText(node)
    const readsEnvironment = member === 'process.env' || importsEnvironment(node)
    if (readsEnvironment && folder !== 'settings') return ['only src/settings may read process.env']
    const isAmbient = (member !== null && AMBIENT.test(member)) || isNowDate(node)
    if (isAmbient && WITHOUT_CLOCK.includes(folder))
      return [`${folder} is given its clock, ids and randomness`]
    return []
  })
}

function sizeViolations(text: string, nodes: readonly Node[]): string[] {
  const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
  const tooLong = lines > FILE_LINES_MAX ? [`has ${lines} lines, more than ${FILE_LINES_MAX}`] : []
  const functions = nodes
    .filter((node) => FUNCTIONS.has(node.type))
    .flatMap((node) => {
      const length = text.slice(node.start, node.end).split('\n').length
      const line = text.slice(0, node.start).split('\n').length
      return length > FUNCTION_LINES_MAX
        ? [`the function in line ${line} has ${length} lines, more than ${FUNCTION_LINES_MAX}`]
        : []
    })
  return [...tooLong, ...functions]
}

function exportViolations(path: string, program: Node, nodes: readonly Node[]): string[] {
  const body = program.body as readonly Node[]
  const isBarrel = body.length > 0 && body.every((node) => RE_EXPORTS.has(node.type) && isNode(node.source))
  return [
    ...(nodes.some((node) => node.type === 'ExportDefaultDeclaration') ? ['has a default export'] : []),
    ...(isBarrel ? [`${posix.basename(path)} only re-exports: import from where things are`] : []),
  ]
}

function folderOf(path: string): string {
  return path.split('/')[1] ?? ''
}

/** What an import, a re-export, a dynamic import or an import type names. */
function specifierOf(node: Node): string | null {
  const source = node.type === 'TSImportType' ? (node.source ?? node.argument) : node.source
  if (!isNode(source)) return null
  const literal = isNode(source.literal) ? source.literal : source
  return typeof literal.value === 'string' ? literal.value : null
}

function memberText(node: Node): string | null {
  if (node.type !== 'MemberExpression' || !isNode(node.object) || !isNode(node.property)) return null
  const { object, property } = node
  if (object.type !== 'Identifier') return null
  return `${String(object.name)}.${String(property.name ?? property.value)}`
}

function importsEnvironment(node: Node): boolean {
  if (node.type !== 'ImportSpecifier' || !isNode(node.imported)) return false
  return node.imported.name === 'env'
}

function isNowDate(node: Node): boolean {
  if (node.type !== 'NewExpression' || !isNode(node.callee)) return false
  return node.callee.name === 'Date' && Array.isArray(node.arguments) && node.arguments.length === 0
}

function* walk(node: Node): Generator<Node> {
  yield node
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) yield* walk(child)
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}
