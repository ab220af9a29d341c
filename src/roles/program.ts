import { basename } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { LocalFolder } from '../cli/connection/local-api.ts'
import { buildProgram, runProgram, type ProgramOptions, type RoleRunners } from '../settings/program.ts'
import { SERVER_INITIAL } from '../settings/client-settings.ts'
import { ROLE_TABLES } from '../settings/role-settings.ts'
import { withKubeconfigReader } from './startup/kubeconfig-reader.ts'
import { VERSION } from './startup/version.ts'

async function bearerOf(kubeconfig: string): Promise<string | null> {
  const { bearerOfKubeconfig } = await withKubeconfigReader(
    () => import('../kubernetes/client/kubeconfig-bearer.ts'),
    'give --token or --token-secret',
  )
  return bearerOfKubeconfig(kubeconfig)
}

/** Resolves at the first SIGINT or SIGTERM; the next one ends the process. */
function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
}

/** Answers the line that is typed; null at Ctrl-C and Ctrl-D. */
async function ask(question: string): Promise<string | null> {
  const { createInterface } = await import('node:readline')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  return new Promise((resolve) => {
    lines.once('close', () => resolve(null))
    lines.question(question, (line) => {
      resolve(line)
      lines.close()
    })
  })
}

async function localFolder(path: string): Promise<LocalFolder> {
  const { findRunningStandalone } = await import('../standalone/running-standalone.ts')
  return { path, running: findRunningStandalone(path) }
}

/** Each role loads only what it needs: without the others an executor is a quarter smaller and starts sooner. */
const ROLES: RoleRunners = {
  standalone: async (settings) => (await import('./standalone.ts')).runStandalone(settings),
  controller: async (settings) => (await import('./controller.ts')).runController(settings),
  api: async (settings) => (await import('./api.ts')).runApi(settings),
  executor: async (settings) => (await import('./executor.ts')).runExecutor(settings),
  prepare: async (settings) => (await import('./prepare.ts')).runPrepare(settings),
  uninstall: async (settings) => (await import('./uninstall.ts')).runUninstall(settings),
  doctor: async (settings, report) => {
    const { runDoctor } = await import('./doctor/doctor.ts')
    return runDoctor(settings, { ...report, stdout: process.stdout, stderr: process.stderr })
  },
  backup: async (settings, file) => {
    const { runBackup } = await import('./backup/backup.ts')
    return runBackup(settings, file, { stdout: process.stdout, stderr: process.stderr })
  },
  restore: async (settings, file) => {
    const { runRestore } = await import('./backup/restore.ts')
    return runRestore(settings, file, { stdin: process.stdin, stdout: process.stdout })
  },
}

const VERSION_FLAGS = ['-V', '--version']

/** Adds the client verbs; nothing where the command line begins with a role or asks for the version alone. */
async function clientVerbsOf(argv: readonly string[]): Promise<ProgramOptions['registerClientCommands']> {
  const first = argv[2] ?? ''
  if (Object.hasOwn(ROLE_TABLES, first) || VERSION_FLAGS.includes(first)) return undefined
  const { registerClientCommands } = await import('../cli/commands.ts')
  const { ignoringBrokenPipe } = await import('../cli/output/output-stream.ts')
  return (command, { server, token, dataDir }) =>
    registerClientCommands(command, {
      serverGiven: server,
      serverDefault: SERVER_INITIAL,
      tokenDefault: token,
      findLocal: () => localFolder(dataDir),
      version: VERSION,
      stdout: ignoringBrokenPipe(process.stdout),
      stderr: ignoringBrokenPipe(process.stderr),
      stdin: process.stdin,
      sleep: (milliseconds) => setTimeout(milliseconds),
      interrupted,
      nowMs: () => Date.now(),
      ask: process.stdin.isTTY && process.stderr.isTTY ? ask : null,
      bearerOf: isPlugin(argv) ? bearerOf : undefined,
    })
}

function isPlugin(argv: readonly string[]): boolean {
  return basename(argv[1] ?? '').startsWith('kubectl-')
}

/** Runs the command line; answers the exit code. */
export async function runPunctual(argv: readonly string[]): Promise<number> {
  const program = buildProgram({
    version: VERSION,
    roles: ROLES,
    registerClientCommands: await clientVerbsOf(argv),
  })
  if (isPlugin(argv)) program.name('kubectl punctual')
  return runProgram(program, argv)
}
