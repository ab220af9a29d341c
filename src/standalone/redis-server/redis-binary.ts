import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { StartupError } from '../../domain/errors.ts'

const SERVERS = ['redis-server', 'valkey-server'] as const
const VERSION_TIMEOUT_MS = 10_000
const VERSION_MIN: readonly [major: number, minor: number] = [7, 0]

const INSTALL =
  'install one (Debian, Ubuntu: sudo apt-get install redis-server; macOS: brew install redis; the image punctual:<version>-standalone has one), or set PUNCTUAL_REDIS_URL to a Redis that runs'

/**
 * The first server program on PATH that is new enough.
 * @param servers names or paths to try, in order
 * @throws StartupError that says what to install
 */
export async function findRedisServer(servers: readonly string[] = SERVERS): Promise<string> {
  const tooOld: string[] = []
  for (const server of servers) {
    const version = await versionOf(server)
    if (version === null) continue
    if (isNewEnough(version)) return server
    tooOld.push(`${server} is version ${version}`)
  }
  throw new StartupError(
    tooOld.length === 0
      ? `Neither ${servers.join(' nor ')} is on PATH: ${INSTALL}.`
      : `${tooOld.join(', ')}, and ${VERSION_MIN.join('.')} or newer is needed: ${INSTALL}.`,
  )
}

/** `Redis server v=7.0.15 sha=…` → `7.0.15`; null when there is no such program. */
async function versionOf(server: string): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)(server, ['--version'], { timeout: VERSION_TIMEOUT_MS })
    return /\bv=([0-9]+\.[0-9]+[0-9.]*)/.exec(stdout)?.[1] ?? 'unknown'
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw new StartupError(`${server} --version does not run (${String(error)}): ${INSTALL}.`, {
      cause: error,
    })
  }
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > VERSION_MIN[0] || (major === VERSION_MIN[0] && minor >= VERSION_MIN[1])
}
