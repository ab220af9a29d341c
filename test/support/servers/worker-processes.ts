/**
 * The processes that a worker's tests have started. One that is killed leaves its own children alone, so they are found
 * by what they inherit: a variable, or, as Redis overwrites those, the worker's temporary folder.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The worker whose tests have started a process. */
export const OF_WORKER = 'TEST_WORKER_PID'
/** The Redis that serves all files of a worker. */
export const STAYS = 'TEST_WORKER_REDIS_PID'

/** With what node keeps of the modules it has compiled before, a start takes half of the CPU. */
const COMPILED = fileURLToPath(new URL('../../../node_modules/.cache/compiled', import.meta.url))

/** For processes that inherit nothing else. */
export function workerEnvironment(): Record<string, string> {
  const pid = process.env[OF_WORKER]
  return { NODE_COMPILE_CACHE: COMPILED, ...(pid !== undefined && { [OF_WORKER]: pid }) }
}

/** Gives this process a temporary folder and a mark of its own; whatever it starts ends with it. */
export function prepareWorker(): void {
  const folder = mkdtempSync(join(tmpdir(), 'punctual-tests-'))
  process.env[OF_WORKER] = String(process.pid)
  process.env['TMPDIR'] = folder
  Object.assign(process.env, workerEnvironment())
  const end = () => {
    endLeftBehind()
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', end)
  // Vitest ends its workers by a signal, and lets no code of theirs exit.
  process.once('SIGTERM', () => {
    end()
    process.kill(process.pid, 'SIGTERM')
  })
}

/** Kills them where there is a /proc. @param spared the one that stays */
export function endLeftBehind(spared = 0): void {
  if (!existsSync('/proc/self/environ')) return
  const pids = readdirSync('/proc').map(Number)
  for (const pid of pids) if (pid > 0 && pid !== process.pid && pid !== spared && isOurs(pid)) kill(pid)
}

function isOurs(pid: number): boolean {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
    if (environment.includes(`${OF_WORKER}=${process.pid}`)) return true
    return readlinkSync(`/proc/${pid}/cwd`).startsWith(`${tmpdir()}/`)
  } catch {
    // It has ended meanwhile, or is another user's.
    return false
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}
