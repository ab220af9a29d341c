import { readFile } from 'node:fs/promises'
import { writeWhole } from './whole-file.ts'

/** The good version of a file that was in force. */
export interface KeptFile {
  readonly file: string
  readonly text: string
  readonly madeAtMs: number
}

/**
 * What was in force, from one start to the next: a file deleted meanwhile is known to be missing, one spoilt
 * meanwhile keeps its last good version, and an older file stays the older one when it is written anew.
 */
export interface FolderState {
  readonly storeId: string
  readonly files: readonly KeptFile[]
}

/** Empty when there is none, it belongs to another folder, or it cannot be read: then nothing counts as deleted. */
export async function readFolderState(path: string, storeId: string): Promise<readonly KeptFile[]> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'))
    return isFolderState(value) && value.storeId === storeId ? value.files : []
  } catch {
    return []
  }
}

/** Readable by this user only: manifests may hold Secrets. */
export async function writeFolderState(path: string, state: FolderState): Promise<void> {
  await writeWhole(path, `${JSON.stringify(state)}\n`, 0o600)
}

function isFolderState(value: unknown): value is FolderState {
  if (typeof value !== 'object' || value === null || !('files' in value)) return false
  return Array.isArray(value.files) && value.files.every(isKeptFile)
}

function isKeptFile(value: unknown): value is KeptFile {
  if (typeof value !== 'object' || value === null) return false
  const { file, text, madeAtMs } = value as Record<string, unknown>
  return typeof file === 'string' && typeof text === 'string' && typeof madeAtMs === 'number'
}
