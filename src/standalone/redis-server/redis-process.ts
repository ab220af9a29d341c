import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartupError } from '../../domain/errors.ts'
import type { Clock } from '../../ports/runtime.ts'
import { identityOf, isSameProcess, signalProcess } from '../process-identity.ts'
import type { ProcessIdentity } from '../process-identity.ts'

/** A Redis that runs: our child, or one found running. */
export interface RedisProcess {
  readonly identity: ProcessIdentity
  /** Resolves with how it ended. */
  readonly ended: Promise<string>
  /** Sends SIGTERM, and SIGKILL if it is still there in the end. Resolves when it is gone. */
  terminate(): Promise<void>
  /** Stops watching; for a process that may outlive this one. */
  forget(): void
}

const LOG_BYTES_MAX = 1024 * 1024
const LOG_TAIL_BYTES = 8 * 1024
const WATCH_INTERVAL_MS = 100
/** Time that Redis has at SIGTERM to flush its file to a slow disk. */
const TERMINATE_MS_MAX = 15_000

/**
 * Starts the server detached, so that a Ctrl-C does not end it before us. Its output goes to a file, because a pipe
 * would break when this process is killed.
 * @throws StartupError when the program cannot be run
 */
export async function spawnRedis(
  server: string,
  folder: string,
  config: string,
  clock: Clock,
): Promise<RedisProcess> {
  const configPath = join(folder, 'redis.conf')
  writeFileSync(configPath, config, { mode: 0o600 })
  const log = openSync(rotatedLog(folder), 'a', 0o600)
  const child = spawn(server, [configPath], { cwd: folder, detached: true, stdio: ['ignore', log, log] })
  closeSync(log)
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : signal))
  })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', (error) =>
      reject(new StartupError(`${server} cannot be started: ${error.message}`, { cause: error })),
    )
  })
  const pid = child.pid ?? 0
  const identity = identityOf(pid) ?? { pid, startedAt: '', command: server }
  return {
    identity,
    ended,
    // The pid of our own child is not reused before we have seen its exit, so a plain kill is safe.
    terminate: () => terminate(ended, (signal) => void child.kill(signal), clock),
    forget: () => undefined,
  }
}

/** Watches a Redis that another process has started: a killed one of ours. */
export function adoptProcess(identity: ProcessIdentity, clock: Clock): RedisProcess {
  let cancel = (): void => undefined
  const ended = new Promise<string>((resolve) => {
    const look = (): void => {
      if (isSameProcess(identity)) cancel = clock.after(WATCH_INTERVAL_MS, look)
      else resolve('end')
    }
    look()
  })
  return {
    identity,
    ended,
    terminate: () => terminate(ended, (signal) => void signalProcess(identity, signal), clock),
    forget: () => cancel(),
  }
}

async function terminate(
  ended: Promise<string>,
  signal: (name: 'SIGTERM' | 'SIGKILL') => void,
  clock: Clock,
): Promise<void> {
  signal('SIGTERM')
  const cancel = clock.after(TERMINATE_MS_MAX, () => signal('SIGKILL'))
  await ended
  cancel()
}

/** The last line of Redis's log, without pid, date and level; null when there is none. */
export function lastLogLine(folder: string): string | null {
  try {
    const lines = readFileSync(join(folder, 'redis.log'), 'utf8').slice(-LOG_TAIL_BYTES).trim().split('\n')
    return lines.at(-1)?.replace(/^[0-9]+:[A-Z] .*? [.*#-] /, '') ?? null
  } catch {
    return null
  }
}

/** Keeps one old log. Redis opens the file for each line, so renaming it is safe at any time. */
function rotatedLog(folder: string): string {
  const path = join(folder, 'redis.log')
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size > LOG_BYTES_MAX) renameSync(path, `${path}.1`)
  return path
}
