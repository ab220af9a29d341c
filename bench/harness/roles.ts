import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { freePort } from './ports.ts'
import { type Program, startProgram, untilReady } from './processes.ts'

const ROOT = join(import.meta.dirname, '../..')
/** As TypeScript, without a build. */
export const SOURCE_MAIN = join(ROOT, 'src/main.ts')
export const BUILT_MAIN = join(ROOT, 'dist/main.js')

export type RoleName = 'api' | 'executor'

interface RoleOptions {
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  readonly main: string
  /** Of Node. */
  readonly nodeArgs?: readonly string[]
}

/** A role as a process. */
export interface Role {
  readonly program: Program
  /** Where an API listens; where an executor tells of itself. */
  readonly url: string
  readonly ops: string
  untilReady(withinMs?: number): Promise<void>
}

export async function startRole(name: RoleName, options: RoleOptions): Promise<Role> {
  const { folder, env, main, nodeArgs = [] } = options
  const opsPort = await freePort()
  const ops = `http://127.0.0.1:${opsPort}`
  const port = name === 'api' ? await freePort() : opsPort
  const profiles = process.env['PROFILE_DIR'] ?? ''
  const profiler = ['--cpu-prof', `--cpu-prof-dir=${profiles}`, `--cpu-prof-name=${name}-${port}.cpuprofile`]
  const program = startProgram({
    name: `${name}-${port}`,
    command: process.execPath,
    args: [...(profiles === '' ? [] : profiler), ...nodeArgs, main, name],
    folder,
    env: {
      PUNCTUAL_EGRESS_ALLOW: '127.0.0.0/8',
      ...env,
      ...(name === 'api' ? { ...keptFolder(folder), PUNCTUAL_PORT: String(port) } : {}),
      PUNCTUAL_OPS_PORT: String(opsPort),
    },
  })
  const url = `http://127.0.0.1:${port}`
  return {
    program,
    url,
    ops,
    untilReady: async (withinMs) => {
      await untilReady(program, () => answers(`${ops}/readyz`), withinMs)
      await untilReady(program, () => answers(url), withinMs)
    },
  }
}

/** What an API beside no cluster is given: the folder of resources that all APIs have in common, and a data folder of its own. */
function keptFolder(folder: string): Record<string, string> {
  return {
    PUNCTUAL_RESOURCES: join(folder, 'resources'),
    PUNCTUAL_DATA_DIR: join(folder, `data-${randomUUID()}`),
  }
}

function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    ({ status }) => status < 500,
    () => false,
  )
}
