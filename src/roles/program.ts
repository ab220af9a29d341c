import { basename } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { registerClientCommands } from '../cli/commands.ts'
import { ignoringBrokenPipe } from '../cli/output/output-stream.ts'
import { buildProgram, runProgram } from '../settings/program.ts'
import { runApi } from './api.ts'
import { runController } from './controller.ts'
import { runDoctor } from './doctor/doctor.ts'
import { runExecutor } from './executor.ts'
import { runPrepare } from './prepare.ts'
import { runUninstall } from './uninstall.ts'
import { runStandalone } from './standalone.ts'
import { VERSION } from './startup/version.ts'

/** The container image is without the reader of kubeconfigs. */
async function bearerOf(kubeconfig: string): Promise<string | null> {
  const { bearerOfKubeconfig } = await import('../kubernetes/client/kubeconfig-bearer.ts')
  return bearerOfKubeconfig(kubeconfig)
}

/** Resolves at the first SIGINT or SIGTERM; the next one ends the process. */
function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
}

/** Runs the command line; answers the exit code. */
export function runPunctual(argv: readonly string[]): Promise<number> {
  const isPlugin = basename(argv[1] ?? '').startsWith('kubectl-')
  const program = buildProgram({
    version: VERSION,
    roles: {
      standalone: runStandalone,
      controller: runController,
      api: runApi,
      executor: runExecutor,
      prepare: runPrepare,
      uninstall: runUninstall,
      doctor: (settings, report) =>
        runDoctor(settings, { ...report, stdout: process.stdout, stderr: process.stderr }),
    },
    registerClientCommands: (command, { server, token }) =>
      registerClientCommands(command, {
        serverDefault: server,
        tokenDefault: token,
        version: VERSION,
        stdout: ignoringBrokenPipe(process.stdout),
        stderr: ignoringBrokenPipe(process.stderr),
        stdin: process.stdin,
        sleep: (milliseconds) => setTimeout(milliseconds),
        interrupted,
        bearerOf: isPlugin ? bearerOf : undefined,
      }),
  })
  if (isPlugin) program.name('kubectl punctual')
  return runProgram(program, argv)
}
