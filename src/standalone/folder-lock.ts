import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StartupError } from '../domain/errors.ts'
import { HOLDER_FILE, readHolder, type LockHolder } from './lock-holder.ts'

/** A process's lock on a data folder. The kernel releases it when the process dies, in whatever way. */
export interface FolderLock {
  /** Notes where this process listens, for the error of the next one that tries to lock the folder. */
  announce(url: string): void
  release(): void
}

const LOCK_FILE = 'lock'
const SQLITE_BUSY = 5

/**
 * Locks the folder. Node has no `flock`, but an exclusive SQLite transaction is the same kernel lock: `kill -9`
 * releases it, and unlike a pid file it is never stale, nor taken by two processes at once.
 * @throws StartupError naming the process that holds the folder
 */
export function lockFolder(folder: string): FolderLock {
  const path = join(folder, LOCK_FILE)
  closeSync(openSync(path, 'a', 0o600))
  const database = new DatabaseSync(path, { timeout: 0 })
  try {
    // Only the lock is wanted: nothing is ever written.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (isBusy(error)) throw new StartupError(takenText(folder), { cause: error })
    throw error
  }
  const holderPath = join(folder, HOLDER_FILE)
  let isHeld = true
  const write = (holder: LockHolder) =>
    writeFileSync(holderPath, `${JSON.stringify(holder)}\n`, { mode: 0o600 })
  write({ pid: process.pid, url: null })
  return {
    announce: (url) => {
      if (isHeld) write({ pid: process.pid, url })
    },
    release: () => {
      if (!isHeld) return
      isHeld = false
      // Before the lock is released: afterwards the file may belong to the next holder.
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
