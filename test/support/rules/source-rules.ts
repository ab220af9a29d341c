import { posix } from 'node:path'
import { type Tree, TREES } from './layers.ts'
import { longFunctions } from './literal-rules.ts'
import { isNode, nodesOf, type Node } from './syntax.ts'

export const FILE_LINES_MAX = 400
const NAMES_BANNED = /^(?:utils?|common|helpers?|misc|managers?|services?|types|interfaces|index)$/
/** controller-runtime's word for what starts all controllers of a process. */
const NAMES_ALLOWED: ReadonlySet<string> = new Set(['src/controller/manager.ts'])
const RE_EXPORTS: ReadonlySet<string> = new Set(['ExportAllDeclaration', 'ExportNamedDeclaration'])
const ENDINGS = /\.(?:tsx?|json|css)$/
const AMBIENT = /^(?:Date\.now|Math\.random|performance\.now|crypto\.randomUUID|crypto\.getRandomValues)$/

interface Scan {
  /** In sentences. */
  readonly violations: readonly string[]
  /** Files of the project that the file imports, including its types. */
  readonly imports: readonly string[]
}

/** Where a file stands. */
interface Place {
  readonly path: string
  readonly tree: Tree
  /** The folder of the tree, or the file itself where it lies beside the folders. */
  readonly folder: string
}

/** Reads a TypeScript or Lua file of one of the trees. @param path such as `src/api/answers.ts` */
export function scan(path: string, text: string): Scan {
  if (path.endsWith('.lua')) {
    const includes = text.matchAll(/^--#include ([\w/-]+)$/gm)
    return { violations: [], imports: [...includes].map(([, include]) => `src/redis/${include}.lua`) }
  }
  const nodes = nodesOf(path, text)
  const isGenerated = path.includes('/generated/')
  const place = placeOf(path)
  const violations = [
    ...nameViolations(path),
    ...importViolations(place, nodes),
    ...settingsViolations(place, nodes),
    ...(isGenerated ? [] : [...sizeViolations(text, nodes), ...exportViolations(path, nodes)]),
  ].map((problem) => `${path}: ${problem}`)
  const imports = nodes.flatMap((node) => {
    const specifier = specifierOf(node)
    return specifier?.startsWith('.') ? [posix.join(posix.dirname(path), specifier)] : []
  })
  return { violations, imports }
}

function nameViolations(path: string): string[] {
  if (NAMES_ALLOWED.has(path)) return []
  const words = path.replace(/\.tsx?$/, '').split(/[/.-]/)
  return words
    .filter((word) => NAMES_BANNED.test(word))
    .map((word) => `"${word}" says nothing: name the responsibility`)
}

function placeOf(path: string): Place {
  const tree = TREES.find(({ root }) => path.startsWith(`${root}/`))
  if (tree === undefined) throw new Error(`${path} is in no tree of layers.ts`)
  return { path, tree, folder: path.slice(tree.root.length + 1).split('/')[0] ?? '' }
}

function importViolations(place: Place, nodes: readonly Node[]): string[] {
  const { folder, tree } = place
  const isKnown =
    folder === tree.entry.file || tree.compositionRoots.includes(folder) || folder in tree.mayImport
  if (!isKnown) return [`folder "${folder}" is not in the import table`]
  return nodes.flatMap((node) => {
    const specifier = specifierOf(node)
    if (specifier === null) return []
    return specifier.startsWith('.')
      ? relativeImportViolations(place, specifier)
      : packageImportViolations(place, node, specifier)
  })
}

function relativeImportViolations({ path, tree, folder }: Place, specifier: string): string[] {
  const target = posix.join(posix.dirname(path), specifier)
  const client = tree.client[folder] ?? tree.client['*'] ?? null
  if (client !== null && (client.endsWith('/') ? target.startsWith(client) : target === client)) return []
  if (!target.startsWith(`${tree.root}/`)) return [`import of ${specifier} leaves ${tree.root}/`]
  if (!ENDINGS.test(target)) return [`import of ${specifier} lacks its .ts`]
  const targetFolder = placeOf(target).folder
  if (tree.compositionRoots.includes(folder) || targetFolder === folder) return []
  const allowed = folder === tree.entry.file ? tree.entry.mayImport : (tree.mayImport[folder] ?? [])
  return allowed.includes(targetFolder) ? [] : [`${folder} may not import ${targetFolder} (${specifier})`]
}

function packageImportViolations({ tree, folder }: Place, node: Node, specifier: string): string[] {
  const packages = tree.packages[folder]
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

function settingsViolations({ tree, folder }: Place, nodes: readonly Node[]): string[] {
  return nodes.flatMap((node) => {
    const member = memberText(node)
    const readsEnvironment = member === 'process.env' || importsEnvironment(node)
    if (readsEnvironment && folder !== 'settings') return ['only src/settings may read process.env']
    const isAmbient = (member !== null && AMBIENT.test(member)) || isNowDate(node)
    if (isAmbient && tree.withoutClock.includes(folder))
      return [`${folder} is given its clock, ids and randomness`]
    return []
  })
}

function sizeViolations(text: string, nodes: readonly Node[]): string[] {
  const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
  const tooLong = lines > FILE_LINES_MAX ? [`has ${lines} lines, more than ${FILE_LINES_MAX}`] : []
  return [...tooLong, ...longFunctions(text, nodes)]
}

function exportViolations(path: string, nodes: readonly Node[]): string[] {
  const body = nodes[0]?.body as readonly Node[]
  const isBarrel = body.length > 0 && body.every((node) => RE_EXPORTS.has(node.type) && isNode(node.source))
  return [
    ...(nodes.some((node) => node.type === 'ExportDefaultDeclaration') ? ['has a default export'] : []),
    ...(isBarrel ? [`${posix.basename(path)} only re-exports: import from where things are`] : []),
  ]
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
