import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { BenchError, messageOf } from './bench-error.ts'

const PEERS = join(import.meta.dirname, '../peers')
const INSTALLED = join(PEERS, 'node_modules/.package-lock.used.json')
/** Programs and the Debian packages that bring them. */
const PROGRAMS: ReadonlyArray<readonly [program: string, packageName: string]> = [
  ['redis-server', 'redis-server'],
  ['redis-benchmark', 'redis-tools'],
  ['nginx', 'nginx-light'],
  ['wrk', 'wrk'],
]
const INSTALL_TIMEOUT_MS = 300_000

/** Makes sure that the programs are there, from Debian's packages when this is root. Throws BenchError with what is missing. */
export function requirePrograms(say: (text: string) => void): void {
  const missing = (): string[] =>
    PROGRAMS.filter(([program]) => !isOnPath(program)).map(([, packageName]) => packageName)
  const before = missing()
  if (before.length === 0) return
  const isAbleToInstall = process.getuid?.() === 0 && isOnPath('apt-get')
  if (isAbleToInstall) {
    say(`installing ${before.join(' ')} from the system's packages`)
    const options = { stdio: 'ignore', timeout: INSTALL_TIMEOUT_MS } as const
    spawnSync('apt-get', ['update', '-qq'], options)
    spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...before], options)
  }
  const after = missing()
  if (after.length > 0) {
    throw new BenchError(`The benchmark needs more programs: sudo apt-get install ${after.join(' ')}`)
  }
}

function isOnPath(program: string): boolean {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .some((folder) => folder !== '' && existsSync(join(folder, program)))
}

/** Installs the peers from their own lock file, once for each version of it; a reason when that does not work. */
export function installPeers(say: (text: string) => void): string | null {
  const lock = join(PEERS, 'package-lock.json')
  if (existsSync(INSTALLED) && readFileSync(INSTALLED, 'utf8') === readFileSync(lock, 'utf8')) return null
  say('installing the peers')
  try {
    execFileSync('npm', ['ci', '--no-progress', '--loglevel=error'], {
      cwd: PEERS,
      env: { ...process.env, PATH: pathOutsideNodeModules() },
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: INSTALL_TIMEOUT_MS,
    })
    cpSync(lock, INSTALLED)
    return null
  } catch (error) {
    return `the peers could not be installed: ${messageOf(error).split('\n').slice(0, 4).join(' ')}`
  }
}

/** The machine's own programs: npm and the Node that Quirrel supports. */
export function pathOutsideNodeModules(): string {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
    .join(delimiter)
}
