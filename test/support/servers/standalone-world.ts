/** Standalone processes with data folders of their own, and targets for their jobs; `close` leaves nothing of them. */
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { identityOf } from '../../../src/standalone/process-identity.ts'
import { createApiClient, type ApiClient } from './api-client.ts'
import { runProgram, type Program } from './processes.ts'
import { startTarget, type Target } from '../targets/target.ts'

export interface StandaloneWorld {
  newFolder(): string
  newTarget(): Promise<Target>
  /** What is in `env` wins. */
  run(folder: string, env?: Record<string, string>): Program
  /** As `run`; answers when it takes jobs. */
  start(folder: string, env?: Record<string, string>): Promise<{ program: Program; client: ApiClient }>
  close(): Promise<void>
}

export function createStandaloneWorld(): StandaloneWorld {
  const folders: string[] = []
  const programs: Program[] = []
  const targets: Target[] = []

  function run(folder: string, env: Record<string, string> = {}): Program {
    const program = runProgram(['standalone'], { ...settingsOf(folder), ...env })
    programs.push(program)
    return program
  }

  return {
    newFolder: () => {
      const folder = realpathSync(mkdtempSync(join(tmpdir(), 'punctual-')))
      folders.push(folder)
      return folder
    },
    newTarget: async () => {
      const target = await startTarget()
      targets.push(target)
      return target
    },
    run,
    start: async (folder, env) => {
      const program = run(folder, env)
      const { url } = await program.logged('Standalone runs')
      const token = readFileSync(join(folder, 'token'), 'utf8').trim()
      return { program, client: createApiClient(String(url), token) }
    },
    close: async () => {
      for (const program of programs) if (program.isRunning()) program.signal('SIGTERM')
      await Promise.all(programs.map((program) => program.exited))
      for (const target of targets) await target.close()
      for (const folder of folders) {
        const pid = redisPid(folder)
        if (pid !== null) process.kill(pid, 'SIGKILL')
        rmSync(folder, { recursive: true, force: true })
      }
    },
  }
}

export function settingsOf(folder: string): Record<string, string> {
  return {
    PUNCTUAL_DATA_DIR: folder,
    PUNCTUAL_PORT: '0',
    PUNCTUAL_OPS_PORT: '0',
    PUNCTUAL_LOG_FORMAT: 'json',
    PUNCTUAL_EGRESS_ALLOW: '127.0.0.0/8,localhost',
  }
}

/** The process its Redis noted, if it runs; null when there is none. */
export function redisPid(folder: string): number | null {
  try {
    const pid = Number(readFileSync(join(folder, 'redis', 'redis.pid'), 'utf8'))
    return identityOf(pid) === null ? null : pid
  } catch {
    return null
  }
}
