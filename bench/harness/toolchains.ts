import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { BenchError } from './bench-error.ts'
import { pathOutsideNodeModules } from './requirements.ts'

const PEERS = join(import.meta.dirname, '../peers')
const GO_FOLDER = join(PEERS, 'go')
const CELERY_FOLDER = join(PEERS, 'celery')
const GO_MAJOR_MINOR = 'go1.26'
/** Downloads included, on two busy cores. */
const BUILD_TIMEOUT_MS = 600_000

/** Builds one program of `bench/peers/go` and answers its path; Go itself knows what is built already. */
export function buildGoPeer(name: string, say: (text: string) => void): string {
  const env = { ...process.env, GOTOOLCHAIN: 'local', GOWORK: 'off', CGO_ENABLED: '0' }
  const version = tryOut(() => execFileSync('go', ['env', 'GOVERSION'], { env, encoding: 'utf8' }).trim())
  if (version?.startsWith(GO_MAJOR_MINOR) !== true) {
    throw new BenchError(`it is built with Go 1.26, and ${version ?? 'no Go'} is on PATH`)
  }
  const program = join(GO_FOLDER, 'bin', name)
  say(`building ${name} with ${version}`)
  runOrExplain(
    `${version} cannot build it`,
    'go',
    ['build', '-trimpath', '-buildvcs=false', '-o', program, `./${name}`],
    {
      cwd: GO_FOLDER,
      env,
    },
  )
  return program
}

/** Installs Celery as its requirements say into a folder of its own and answers that Python. */
export function installCelery(say: (text: string) => void): string {
  const wanted = join(CELERY_FOLDER, 'requirements.txt')
  const home = join(CELERY_FOLDER, '.venv')
  const installed = join(home, 'requirements.used.txt')
  const python = join(home, 'bin/python')
  if (existsSync(installed) && readFileSync(installed, 'utf8') === readFileSync(wanted, 'utf8')) return python
  say('installing Celery')
  const env = { ...process.env, PATH: pathOutsideNodeModules() }
  rmSync(home, { recursive: true, force: true })
  runOrExplain('no Python 3 with venv is on PATH', 'python3', ['-m', 'venv', home], { env })
  const quietly = ['--quiet', '--disable-pip-version-check', '--no-deps']
  runOrExplain('pip cannot install it', python, ['-m', 'pip', 'install', ...quietly, '-r', wanted], { env })
  cpSync(wanted, installed)
  return python
}

function runOrExplain(
  reason: string,
  command: string,
  args: readonly string[],
  options: { cwd?: string; env: NodeJS.ProcessEnv },
): void {
  try {
    execFileSync(command, [...args], {
      ...options,
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: BUILD_TIMEOUT_MS,
    })
  } catch (error) {
    const said = String((error as { stderr?: Buffer }).stderr ?? '')
      .trim()
      .split('\n')
      .at(-1)
    throw new BenchError(`${reason}${said === undefined || said === '' ? '' : `: ${said}`}`)
  }
}

function tryOut(ask: () => string): string | null {
  try {
    return ask()
  } catch {
    return null
  }
}
