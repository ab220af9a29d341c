import { existsSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'

interface Start {
  /** The file that was started, as `process.argv[1]`. */
  readonly startedFile: string
  readonly cwd: string
  /** Of this machine; in a container Docker gives it the id of that. */
  readonly hostName: string
  readonly exists?: (path: string) => boolean
}

export interface OwnCommand {
  /** The words that start this program again from another terminal in the same folder. */
  readonly text: string
  /** Paths of this process mean nothing to that terminal, and the variables are those of this process. */
  readonly isInContainer: boolean
}

export function ownCommand({ startedFile, cwd, hostName, exists = existsSync }: Start): OwnCommand {
  const file = resolve(cwd, startedFile)
  const folder = dirname(file)
  if (basename(file) === 'main.ts') return here(`node ${near(file, cwd)}`)
  // npm links the program there, also for npx, and puts that folder on no terminal's PATH.
  if (folder.endsWith(join('node_modules', '.bin'))) return here('npx punctual')
  const root = dirname(folder)
  const starter = join(root, 'bin', 'punctual')
  if (!exists(starter)) return here('punctual')
  // The image holds a starter as a checkout does, but no lock file.
  if (exists(join(root, 'package-lock.json'))) return here(near(starter, cwd))
  return { text: `docker exec ${hostName} punctual`, isInContainer: true }
}

function here(text: string): OwnCommand {
  return { text, isInContainer: false }
}

/** A path below the folder is shown from there. */
function near(file: string, cwd: string): string {
  const short = relative(cwd, file)
  return short.startsWith('..') ? file : short
}
