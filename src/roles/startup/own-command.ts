import { existsSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'

interface Start {
  /** The file that was started, as `process.argv[1]`. */
  readonly startedFile: string
  readonly cwd: string
  readonly exists?: (path: string) => boolean
}

/** The words that start this program again from another terminal in the same folder. */
export function ownCommand({ startedFile, cwd, exists = existsSync }: Start): string {
  const file = resolve(cwd, startedFile)
  const folder = dirname(file)
  if (basename(file) === 'main.ts') return `node ${near(file, cwd)}`
  // npm links the program there, also for npx, and puts that folder on no terminal's PATH.
  if (folder.endsWith(join('node_modules', '.bin'))) return 'npx punctual'
  const root = dirname(folder)
  const starter = join(root, 'bin', 'punctual')
  const isCheckout = exists(join(root, 'package-lock.json')) && exists(starter)
  return isCheckout ? near(starter, cwd) : 'punctual'
}

/** A path below the folder is shown from there. */
function near(file: string, cwd: string): string {
  const short = relative(cwd, file)
  return short.startsWith('..') ? file : short
}
