import { createManifestReader } from '../../resources/manifests/manifest-reader.ts'
import type { ManifestReader } from '../../resources/manifests/manifest-reader.ts'
import { createFolderScanner } from './folder-scanner.ts'
import type { FolderFault, FolderScan } from './folder-scanner.ts'
import type { FolderProblem } from '../folder-problem.ts'
import { readFolderState, writeFolderState } from './folder-state.ts'
import type { KeptFile } from './folder-state.ts'
import { observe, problemsOf, settle } from './manifest-file.ts'
import type { ManifestFile } from './manifest-file.ts'

/** The files of the folder as the store knows them. */
export interface FolderFiles {
  readonly reader: ManifestReader
  /** Rises when a good version changes. */
  version(): number
  all(): readonly ManifestFile[]
  get(file: string): ManifestFile | undefined
  problems(): readonly FolderProblem[]
  /** Why the folder cannot be used now; null when it can. */
  fault(): FolderFault | null
  /** Whether one more file would be too many. */
  isFull(): boolean
  /** What was in force when the program last ended. */
  load(): Promise<void>
  /**
   * Looks at the folder.
   * @returns when something that waits is due, in ms; null when nothing waits
   */
  look(isFirst: boolean): Promise<number | null>
  /** Takes over a version that the store has written itself; null = it has removed the file. */
  replace(file: string, text: string | null): void
  /** Keeps the good versions for the next start. */
  save(): Promise<void>
}

export interface FolderFilesOptions {
  readonly folder: string
  readonly storeId: string
  readonly team: string
  /** Where the good versions are kept; null = nowhere. */
  readonly statePath: string | null
  readonly nowMs: () => number
  readonly wallMs: () => number
}

export function createFolderFiles(options: FolderFilesOptions): FolderFiles {
  const { folder, storeId, statePath, nowMs } = options
  const reader = createManifestReader(options.team)
  const scan = createFolderScanner(folder, storeId)
  const known = new Map<string, ManifestFile>()
  let version = 0
  let scanned: FolderScan = { kind: 'files', files: new Map(), isFull: false }
  const put = (file: string, next: ManifestFile | null): void => {
    if (next?.good !== known.get(file)?.good) version += 1
    if (next === null) known.delete(file)
    else known.set(file, next)
  }
  return {
    reader,
    version: () => version,
    all: () => [...known.values()],
    get: (file) => known.get(file),
    fault: () => (scanned.kind === 'files' ? null : scanned),
    isFull: () => scanned.kind === 'files' && scanned.isFull,
    problems: () => [
      ...(scanned.kind === 'files' ? [] : [folderProblem(folder, scanned.reason)]),
      ...[...known.values()].flatMap((file) =>
        problemsOf(file, nowMs()).map((problem) => ({ ...problem, code: 'Invalid' as const })),
      ),
    ],
    load: async () => {
      const kept = statePath === null ? [] : await readFolderState(statePath, storeId)
      for (const one of kept) put(one.file, keptFile(one, reader))
    },
    look: async (isFirst) => {
      const found = await scan(known)
      scanned = found
      if (found.kind === 'unusable') return null
      const dueInMs: number[] = []
      for (const file of new Set([...known.keys(), ...found.files.keys()])) {
        const there = found.files.get(file) ?? { content: { kind: 'absent' }, madeAtMs: 0 }
        const before = known.get(file) ?? unknownFile(file, there.madeAtMs)
        const observed = observe(before, there.content, nowMs(), reader)
        const settled =
          found.kind === 'files' ? settle(observed, nowMs(), isFirst) : { file: observed, dueInMs: null }
        if (settled.dueInMs !== null) dueInMs.push(settled.dueInMs)
        put(file, settled.file)
      }
      return dueInMs.length === 0 ? null : Math.min(...dueInMs)
    },
    replace: (file, text) => {
      const madeAtMs = known.get(file)?.madeAtMs ?? options.wallMs()
      put(file, text === null ? null : keptFile({ file, text, madeAtMs }, reader))
    },
    save: async () => {
      if (statePath === null) return
      const files = [...known.values()].flatMap(({ file, madeAtMs, good }) =>
        good === null ? [] : [{ file, madeAtMs, text: good.text }],
      )
      await writeFolderState(statePath, { storeId, files })
    },
  }
}

function unknownFile(file: string, madeAtMs: number): ManifestFile {
  return { file, madeAtMs, good: null, candidate: null }
}

/** A good version read again; one that a newer program no longer takes is as if there were none. */
function keptFile({ file, text, madeAtMs }: KeptFile, reader: ManifestReader): ManifestFile {
  const { resources, problems } = reader.read(file, text)
  return { file, madeAtMs, good: problems.length === 0 ? { text, resources } : null, candidate: null }
}

function folderProblem(folder: string, reason: string): FolderProblem {
  return { code: 'FolderNotUsable', file: folder, document: null, line: null, field: null, reason }
}
