import { readFile } from 'node:fs/promises'
import { writeFileAtomically } from './atomic-file.ts'

/** The applied version of a file. */
export interface SavedFile {
  readonly file: string
  readonly text: string
  readonly madeAtMs: number
}

/**
 * The applied files, kept between runs. With them a file that was deleted meanwhile counts as deleted, one that became
 * invalid keeps its last valid version, and a file keeps its age when it is written again.
 */
interface FolderState {
  readonly storeId: string
  readonly files: readonly SavedFile[]
}

/**
 * Answers nothing, so that nothing counts as deleted, when the state is missing, unreadable or that of another folder.
 */
export async function readFolderState(path: string, storeId: string): Promise<readonly SavedFile[]> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'))
    return isFolderState(value) && value.storeId === storeId ? value.files : []
  } catch {
    return []
  }
}

/** Makes the file readable by this user alone, as manifests may hold Secrets. */
export async function writeFolderState(path: string, state: FolderState): Promise<void> {
  await writeFileAtomically(path, `${JSON.stringify(state)}\n`, 0o600)
}

function isFolderState(value: unknown): value is FolderState {
  if (typeof value !== 'object' || value === null || !('files' in value)) return false
  return Array.isArray(value.files) && value.files.every(isSavedFile)
}

function isSavedFile(value: unknown): value is SavedFile {
  if (typeof value !== 'object' || value === null) return false
  const { file, text, madeAtMs } = value as Record<string, unknown>
  return typeof file === 'string' && typeof text === 'string' && typeof madeAtMs === 'number'
}
