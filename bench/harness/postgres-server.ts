import { execFile } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { BenchError, messageOf } from './bench-error.ts'
import { startProgram, untilReady, type Program, type User } from './processes.ts'
import { sleep } from './waiting.ts'

const run = promisify(execFile)
const SCRIPT = join(import.meta.dirname, '../../scripts/postgres.sh')
const INSTALL_TIMEOUT_MS = 300_000
const COMMAND_TIMEOUT_MS = 30_000
const DATABASE = 'bench'
/** The name of the socket alone: nothing listens on it by TCP. */
const PORT = '5432'
const MANY_CONNECTIONS = 200

/**
 * Durable as it comes: fsync and synchronous_commit stay on. Room for the data in memory and for the log of a run, so
 * that no checkpoint in the middle of one is luck.
 */
export const POSTGRES_SETTINGS = {
  fsync: 'on',
  synchronous_commit: 'on',
  shared_buffers: '512MB',
  max_wal_size: '8GB',
  checkpoint_timeout: '30min',
  max_connections: String(MANY_CONNECTIONS),
} as const

/** Where PostgreSQL is on this machine, and whom it runs as: it refuses to be root. */
export interface PostgresHome {
  readonly programs: string
  readonly version: string
  /** Null = whoever this process is. */
  readonly user: User | null
}

/** A PostgreSQL of one contender's run. */
export interface PostgresServer {
  readonly kind: 'postgresql'
  /** PGHOST, PGPORT, PGUSER and PGDATABASE: all libraries know them. */
  readonly env: Readonly<Record<string, string>>
  /** User and system time of all its processes, in seconds. */
  cpuSeconds(): Promise<number>
  stop(): Promise<void>
}

/** Makes sure of PostgreSQL, from the system's packages when this is root. Throws BenchError with the reason why not. */
export async function findPostgres(): Promise<PostgresHome> {
  try {
    const { stdout } = await run(SCRIPT, [], { timeout: INSTALL_TIMEOUT_MS })
    const programs = stdout.trim()
    const version = await run(join(programs, 'postgres'), ['--version'], { timeout: COMMAND_TIMEOUT_MS })
    return {
      programs,
      version: /(\d+[.\d]*)/.exec(version.stdout)?.[1] ?? 'unknown',
      user: process.getuid?.() === 0 ? await userNamed('postgres') : null,
    }
  } catch (error) {
    throw new BenchError(lastLine((error as { stderr?: string }).stderr ?? messageOf(error)))
  }
}

export async function startPostgresServer(folder: string, home: PostgresHome): Promise<PostgresServer> {
  const place = mkdtempSync(join(folder, 'postgres-'))
  if (home.user !== null) {
    // Its user has to get to its own folder, and sees nothing else of the others.
    chmodSync(folder, 0o711)
    chownSync(place, home.user.uid, home.user.gid)
  }
  const data = join(place, 'data')
  const asUser = { timeout: COMMAND_TIMEOUT_MS, cwd: place, ...home.user }
  const ask = (program: string, args: readonly string[]) => run(join(home.programs, program), args, asUser)
  await ask('initdb', ['-D', data, '-U', DATABASE, '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'])
  const program = startProgram({
    name: 'postgres',
    command: join(home.programs, 'postgres'),
    args: serverArguments(data, place),
    folder,
    user: home.user,
  })
  const socket = ['-h', place, '-p', PORT, '-U', DATABASE]
  await untilReady(program, () =>
    ask('pg_isready', socket).then(
      () => true,
      () => false,
    ),
  )
  await ask('createdb', [...socket, DATABASE])
  return {
    kind: 'postgresql',
    env: { PGHOST: place, PGPORT: PORT, PGUSER: DATABASE, PGDATABASE: DATABASE },
    cpuSeconds: () => Promise.resolve(program.cpuSeconds()),
    stop: async () => {
      await stopFast(program)
      rmSync(place, { recursive: true, force: true })
    },
  }
}

function serverArguments(data: string, socketFolder: string): string[] {
  const settings = { ...POSTGRES_SETTINGS, listen_addresses: '', unix_socket_directories: socketFolder }
  const chosen = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return ['-D', data, '-p', PORT, ...chosen]
}

/** SIGTERM waits for clients to leave; SIGINT, its fast shutdown, does not. */
async function stopFast(program: Program): Promise<void> {
  program.kill('SIGINT')
  for (let waited = 0; !program.hasEnded() && waited < COMMAND_TIMEOUT_MS; waited += 20) await sleep(20)
  await program.stop()
}

async function userNamed(name: string): Promise<User> {
  const idOf = async (option: string): Promise<number> => Number((await run('id', [option, name])).stdout)
  return { uid: await idOf('-u'), gid: await idOf('-g') }
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? ''
}
