import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { TOKEN_FILE } from './token.ts'
import { readHolder, HOLDER_FILE } from './lock-holder.ts'

/** A standalone that runs now, as the client verbs reach it. */
export interface RunningStandalone {
  /** Base address of its API. */
  readonly url: string
  /** The token it keeps in its folder; null when it was given one, or when this user may not read the file. */
  readonly token: string | null
}

/**
 * Reads which standalone has a data folder open. Locks and changes nothing; null = none runs, or it does not listen yet.
 * A file that a killed process has left behind counts as none: its port may be somebody else's by now.
 */
export function findRunningStandalone(path: string): RunningStandalone | null {
  const holder = readHolder(join(path, HOLDER_FILE))
  if (holder === null || holder.url === null || !isAlive(holder.pid)) return null
  return { url: holder.url, token: tokenIn(join(path, TOKEN_FILE)) }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Of another user: it runs.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

function tokenIn(path: string): string | null {
  try {
    const token = readFileSync(path, 'utf8').trim()
    return token === '' ? null : token
  } catch {
    return null
  }
}
