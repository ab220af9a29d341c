import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StartupError } from '../domain/errors.ts'

/** One process's hold on a data folder; the kernel ends it with the process, however that dies. */
export interface FolderLock {
  /** Tells whoever tries to start here next where this process is to be found. */
  announce(url: string): void
  release(): void
}

interface Holder {
  readonly pid: number
  readonly url: string | null
}

const LOCK_FILE = 'lock'
const HOLDER_FILE = 'lock.json'
const SQLITE_BUSY = 5

/**
 * Takes the folder for this process. Node has no `flock`; an exclusive SQLite transaction is the same kernel lock,
 * released by `kill -9`, and unlike a file with a pid it cannot be stale nor taken by two starters at once.
 * @throws StartupError naming the process that holds the folder
 */
export function lockFolder(folder: string): FolderLock {
  const path = join(folder, LOCK_FILE)
  closeSync(openSync(path, 'a', 0o600))
  const database = new DatabaseSync(path, { timeout: 0 })
  try {
    // The journal stays in memory: nothing is ever written, the lock is all that is wanted.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (isBusy(error)) throw new StartupError(takenText(folder), { cause: error })
    throw error
  }
  const holderPath = join(folder, HOLDER_FILE)
  let isHeld = true
  const write = (holder: Holder) => writeFileSync(holderPath, `${JSON.stringify(holder)}\n`, { mode: 0o600 })
  write({ pid: process.pid, url: null })
  return {
    announce: (url) => {
      if (isHeld) write({ pid: process.pid, url })
    },
    release: () => {
      if (!isHeld) return
      isHeld = false
      // Before the lock goes: afterwards the file may already be the next holder's.
      rmSync(holderPath, { force: true })
      database.close()
    },
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY
}

function takenText(folder: string): string {
  const holder = readHolder(join(folder, HOLDER_FILE))
  const process = holder === null ? 'another process' : `process ${holder.pid}`
  const place = holder === null || holder.url === null ? '' : ` at ${holder.url}`
  return `The data folder ${folder} is in use by ${process}${place}: stop that one first, or set PUNCTUAL_DATA_DIR to another folder.`
}

function readHolder(path: string): Holder | null {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (typeof value !== 'object' || value === null || !('pid' in value)) return null
    const url = 'url' in value && typeof value.url === 'string' ? value.url : null
    return typeof value.pid === 'number' ? { pid: value.pid, url } : null
  } catch {
    // The holder may be writing it right now; its name is a courtesy, the lock is the truth.
    return null
  }
}
