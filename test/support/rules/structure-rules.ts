import { posix } from 'node:path'

/** Files beside sub-folders; a reader takes in a folder's list at one glance. */
export const FILES_PER_FOLDER_MAX = 14
/** Sub-folders of a folder; a rule for files alone would be kept by annexes. */
export const FOLDERS_PER_FOLDER_MAX = 12
/** Their sub-folders are the layers, which the import table lists. */
const FOLDERS_OF_LAYERS: ReadonlySet<string> = new Set(['src', 'test/unit'])
/** Nine of ten files have at most this many lines. */
export const FILE_LINES_P90_MAX = 180

/** What the engine is made of, drawn: boxes that a reader holds in mind, and floors from the ground to the roof. */
export const REDIS_BOXES_MAX = 9
export const REDIS_FLOORS_MAX = 8

/** Which files each file imports, by path from the root of the project; types count. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>

/** Files that import each other, directly or by way of others: one sentence a circle. */
export function circlesOfFiles(imports: ImportGraph): string[] {
  return circlesOf(imports).map((files) => `${files.join(' and ')} import each other`)
}

/**
 * Sub-folders of one folder that import each other. The files beside the sub-folders do not count: they put the
 * sub-folders together, or are what those share.
 */
export function circlesOfFolders(imports: ImportGraph): string[] {
  const byParent = new Map<string, Map<string, Set<string>>>()
  for (const [file, targets] of imports) {
    for (const target of targets) {
      const { parent, from, to } = fork(posix.dirname(file), posix.dirname(target))
      if (from === '' || to === '' || parent === 'src') continue
      const edges = byParent.get(parent) ?? new Map<string, Set<string>>()
      byParent.set(parent, edges)
      edges.set(from, (edges.get(from) ?? new Set()).add(to))
      if (!edges.has(to)) edges.set(to, new Set())
    }
  }
  return [...byParent].flatMap(([parent, edges]) =>
    circlesOf(new Map([...edges].map(([from, to]) => [from, [...to]]))).map(
      (folders) => `${folders.map((folder) => `${parent}/${folder}`).join(' and ')} import each other`,
    ),
  )
}

/**
 * A folder drawn: a box is a sub-folder, or a file beside the sub-folders, and stands a floor above the highest box that
 * it imports. Where boxes are part of a circle, the floors are those of one way through it.
 */
export function drawingOf(folder: string, imports: ImportGraph): { boxes: number; floors: number } {
  const boxOf = (file: string) =>
    file.startsWith(`${folder}/`) ? file.slice(folder.length + 1).split('/')[0] : undefined
  const below = new Map<string, Set<string>>()
  for (const [file, targets] of imports) {
    const box = boxOf(file)
    if (box === undefined) continue
    const known = below.get(box) ?? new Set<string>()
    below.set(box, known)
    for (const target of targets) {
      const other = boxOf(target)
      if (other !== undefined && other !== box) known.add(other)
    }
  }
  const floors = new Map<string, number>()
  function floorOf(box: string): number {
    const known = floors.get(box)
    if (known !== undefined) return known
    floors.set(box, 0)
    const floor = 1 + Math.max(0, ...[...(below.get(box) ?? [])].map(floorOf))
    floors.set(box, floor)
    return floor
  }
  return { boxes: below.size, floors: Math.max(0, ...[...below.keys()].map(floorOf)) }
}

/** Folders that hold more files or sub-folders than a reader takes in. Generated files do not count. */
export function crowdedFolders(files: readonly string[]): string[] {
  const filesOf = Map.groupBy(
    files.filter((file) => !file.includes('/generated/')),
    (file) => posix.dirname(file),
  )
  const folders = new Set(files.flatMap((file) => foldersAbove(file)))
  const foldersOf = Map.groupBy(folders, (folder) => posix.dirname(folder))
  return [
    ...[...filesOf]
      .filter(([, { length }]) => length > FILES_PER_FOLDER_MAX)
      .map(([folder, { length }]) => `${folder} holds ${length} files, more than ${FILES_PER_FOLDER_MAX}`),
    ...[...foldersOf]
      .filter(([folder, { length }]) => length > FOLDERS_PER_FOLDER_MAX && !FOLDERS_OF_LAYERS.has(folder))
      .map(
        ([folder, { length }]) => `${folder} holds ${length} folders, more than ${FOLDERS_PER_FOLDER_MAX}`,
      ),
  ]
}

/** Every folder on the way to a file, such as `a/b` and `a` of `a/b/c.ts`. */
function foldersAbove(file: string): string[] {
  const parts = file.split('/').slice(0, -1)
  return parts.map((_, depth) => parts.slice(0, depth + 1).join('/'))
}

/** Nearest-rank percentile. @param share from 0 to 1 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0
}

/** Where the ways to two folders part: their common parent, and the next folder of each, '' when it ends there. */
function fork(a: string, b: string): { parent: string; from: string; to: string } {
  const [left, right] = [a.split('/'), b.split('/')]
  let depth = 0
  while (depth < left.length && left[depth] === right[depth]) depth += 1
  return { parent: left.slice(0, depth).join('/'), from: left[depth] ?? '', to: right[depth] ?? '' }
}

/** Strongly connected components of more than one node, each sorted (Tarjan's algorithm). */
function circlesOf(graph: ImportGraph): string[][] {
  const circles: string[][] = []
  const found = new Map<string, { readonly index: number; low: number; isOpen: boolean }>()
  const path: string[] = []
  function visit(node: string): { low: number } {
    const state = { index: found.size, low: found.size, isOpen: true }
    found.set(node, state)
    path.push(node)
    for (const target of graph.get(node) ?? []) {
      const known = found.get(target)
      if (known === undefined) state.low = Math.min(state.low, visit(target).low)
      else if (known.isOpen) state.low = Math.min(state.low, known.index)
    }
    if (state.low === state.index) {
      const circle = path.splice(path.indexOf(node))
      for (const member of circle) found.get(member)!.isOpen = false
      if (circle.length > 1) circles.push(circle.toSorted())
    }
    return state
  }
  for (const node of graph.keys()) if (!found.has(node)) visit(node)
  return circles
}
