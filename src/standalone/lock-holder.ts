import { readFileSync } from 'node:fs'

/** The file beside the lock that says which process holds a data folder. */
export const HOLDER_FILE = 'lock.json'

export interface LockHolder {
  readonly pid: number
  /** Where it listens; null = it does not yet. */
  readonly url: string | null
}

/** Reads which process holds a folder; null = the file is missing, or being written right now. */
export function readHolder(path: string): LockHolder | null {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (typeof value !== 'object' || value === null || !('pid' in value)) return null
    const url = 'url' in value && typeof value.url === 'string' ? value.url : null
    return Number.isSafeInteger(value.pid) && Number(value.pid) > 0 ? { pid: Number(value.pid), url } : null
  } catch {
    return null
  }
}
