import { posix } from 'node:path'

/** Files beside sub-folders; a reader takes in a folder's list at one glance. */
export const FILES_PER_FOLDER_MAX = 14
/** Nine of ten files have at most this many lines. */
export const FILE_LINES_P90_MAX = 180

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

/** Folders that hold more files than a reader takes in. Generated files do not count. */
export function crowdedFolders(files: readonly string[]): string[] {
  const written = files.filter((file) => !file.includes('/generated/'))
  return [...Map.groupBy(written, (file) => posix.dirname(file))]
    .filter(([, inFolder]) => inFolder.length > FILES_PER_FOLDER_MAX)
    .map(([folder, { length }]) => `${folder} holds ${length} files, more than ${FILES_PER_FOLDER_MAX}`)
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
