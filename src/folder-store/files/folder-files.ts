import { createManifestReader, type ManifestReader } from '../../resources/manifests/manifest-reader.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { FolderProblem } from '../folder-problem.ts'
import { createFolderScanner, type FolderFault, type FolderScan } from './folder-scanner.ts'
import { readFolderState, type SavedFile, writeFolderState } from './folder-state.ts'
import { type ManifestFile, observe, problemsOf, settle } from './manifest-file.ts'

export interface FolderFilesOptions {
  readonly folder: string
  readonly storeId: string
  /** The team of manifests without a namespace. */
  readonly team: string
  /** The good versions are saved here; null = nowhere. */
  readonly statePath: string | null
  readonly clock: Clock
}

/** Keeps the manifest files of a folder. Owns the good version of each file and what the last scan found. */
export class FolderFiles {
  readonly reader: ManifestReader
  readonly #options: FolderFilesOptions
  readonly #scan: ReturnType<typeof createFolderScanner>
  readonly #files = new Map<string, ManifestFile>()
  #version = 0
  #scanned: FolderScan = { kind: 'files', files: new Map(), isFull: false }

  constructor(options: FolderFilesOptions) {
    this.#options = options
    this.reader = createManifestReader(options.team)
    this.#scan = createFolderScanner(options.folder, options.storeId)
  }

  /** Increases when a good version changes. */
  get version(): number {
    return this.#version
  }

  all(): readonly ManifestFile[] {
    return [...this.#files.values()]
  }

  get(file: string): ManifestFile | undefined {
    return this.#files.get(file)
  }

  problems(): readonly FolderProblem[] {
    const nowMs = this.#options.clock.monotonicMs()
    return [
      ...(this.#scanned.kind === 'files' ? [] : [this.#folderProblem(this.#scanned.reason)]),
      ...this.all().flatMap((file) =>
        problemsOf(file, nowMs).map((problem) => ({ ...problem, code: 'Invalid' as const })),
      ),
    ]
  }

  /** Says why the folder cannot be used now; null = it can. */
  fault(): FolderFault | null {
    return this.#scanned.kind === 'files' ? null : this.#scanned
  }

  /** Tells whether the folder holds as many manifests as are allowed. */
  isFull(): boolean {
    return this.#scanned.kind === 'files' && this.#scanned.isFull
  }

  /** Loads the good versions of the previous run. */
  async load(): Promise<void> {
    const { statePath, storeId } = this.#options
    const saved = statePath === null ? [] : await readFolderState(statePath, storeId)
    for (const one of saved) this.#set(one.file, this.#read(one))
  }

  /** Saves the good versions for the next run. */
  async save(): Promise<void> {
    const { statePath, storeId } = this.#options
    if (statePath === null) return
    const files = this.all().flatMap(({ file, madeAtMs, good }) =>
      good === null ? [] : [{ file, madeAtMs, text: good.text }],
    )
    await writeFolderState(statePath, { storeId, files })
  }

  /**
   * Scans the folder and accepts the versions that have settled.
   * @returns ms until the next version is due; null = none is
   */
  async scan(isFirst: boolean): Promise<number | null> {
    const found = await this.#scan(this.#files)
    this.#scanned = found
    if (found.kind === 'unusable') return null
    const nowMs = this.#options.clock.monotonicMs()
    const dueInMs: number[] = []
    for (const file of new Set([...this.#files.keys(), ...found.files.keys()])) {
      const { content, madeAtMs } = found.files.get(file) ?? { content: { kind: 'absent' }, madeAtMs: 0 }
      const before = this.#files.get(file) ?? { file, madeAtMs, good: null, candidate: null }
      const observed = observe(before, content, nowMs, this.reader)
      const settled =
        found.kind === 'files' ? settle(observed, nowMs, isFirst) : { file: observed, dueInMs: null }
      if (settled.dueInMs !== null) dueInMs.push(settled.dueInMs)
      this.#set(file, settled.file)
    }
    return dueInMs.length === 0 ? null : Math.min(...dueInMs)
  }

  /** Accepts a version that the store itself has written; null = it has removed the file. */
  replace(file: string, text: string | null): void {
    const madeAtMs = this.#files.get(file)?.madeAtMs ?? this.#options.clock.wallMs()
    this.#set(file, text === null ? null : this.#read({ file, text, madeAtMs }))
  }

  #set(file: string, next: ManifestFile | null): void {
    if (next?.good !== this.#files.get(file)?.good) this.#version += 1
    if (next === null) this.#files.delete(file)
    else this.#files.set(file, next)
  }

  /** A version that an upgrade of the program has made invalid counts as absent. */
  #read({ file, text, madeAtMs }: SavedFile): ManifestFile {
    const { resources, problems } = this.reader.read(file, text)
    return { file, madeAtMs, good: problems.length === 0 ? { text, resources } : null, candidate: null }
  }

  #folderProblem(reason: string): FolderProblem {
    const { folder } = this.#options
    const nowhere = { document: null, item: null, line: null, field: null }
    return { code: 'FolderNotUsable', file: folder, ...nowhere, reason }
  }
}
